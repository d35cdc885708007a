import { desc, eq } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { repositoryLanguages } from '../../../db/schema/repositories.ts'

/** Bytes by language, most first. */
export async function listLanguages(db: Db, repositoryId: number): Promise<Record<string, number>> {
  const rows = await db
    .select({ language: repositoryLanguages.language, bytes: repositoryLanguages.bytes })
    .from(repositoryLanguages)
    .where(eq(repositoryLanguages.repositoryId, repositoryId))
    .orderBy(desc(repositoryLanguages.bytes), repositoryLanguages.language)
  return Object.fromEntries(rows.map(({ language, bytes }) => [language, bytes]))
}
