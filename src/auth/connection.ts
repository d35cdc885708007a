import { and, eq } from 'drizzle-orm'
import type { Db } from '../../db/client.ts'
import { authSources } from '../../db/schema/auth-sources.ts'
import { externalIdentities } from '../../db/schema/external-identities.ts'

/** Whether somebody may still sign in by a connection with a source: it was not taken away, and the source is in use. */
export async function isConnected(db: Db, userId: number, identityId: number): Promise<boolean> {
  const rows = await db
    .select({ id: externalIdentities.id })
    .from(externalIdentities)
    .innerJoin(authSources, eq(authSources.id, externalIdentities.sourceId))
    .where(
      and(eq(externalIdentities.id, identityId), eq(externalIdentities.userId, userId), eq(authSources.isActive, true)),
    )
  return rows.length > 0
}
