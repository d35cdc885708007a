import { eq, sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { pushes } from '../../../db/schema/refs.ts'
import { wikis } from '../../../db/schema/wikis.ts'
import type { Clock } from '../../kernel/time.ts'

/** The folder of the wiki; undefined as long as there is none. */
export async function findWiki(db: Db, repositoryId: number): Promise<number | undefined> {
  const [row] = await db.select({ id: wikis.folderId }).from(wikis).where(eq(wikis.repositoryId, repositoryId))
  return row?.id
}

/** The folders of a repository: of its code, and of its wiki where there is one. */
export async function foldersOf(db: Db, repositoryId: number): Promise<number[]> {
  const wiki = await findWiki(db, repositoryId)
  return wiki === undefined ? [repositoryId] : [repositoryId, wiki]
}

/** Whether the folder of that id is a wiki's. */
export const isWikiFolder = async (db: Db, folderId: number): Promise<boolean> =>
  (await db.$count(wikis, eq(wikis.folderId, folderId))) > 0

export async function insertWiki(tx: Db, wiki: typeof wikis.$inferInsert): Promise<void> {
  await tx.insert(wikis).values(wiki)
}

/** Notes that something is about to change or has changed, and keeps others who do so waiting until the transaction ends. */
export async function touchWiki(tx: Db, repositoryId: number, clock: Clock): Promise<void> {
  await tx.update(wikis).set({ updatedAt: clock.now() }).where(eq(wikis.repositoryId, repositoryId))
}

/** Branches and tags that pushes to the wiki under way may make. */
export async function countComingRefs(tx: Db, repositoryId: number): Promise<number> {
  const [row] = await tx
    .select({ coming: sql<number>`coalesce(sum(${pushes.newRefs}), 0)::int` })
    .from(pushes)
    .where(sql`${pushes.repositoryId} = ${repositoryId} and ${pushes.isWiki}`)
  return row?.coming ?? 0
}
