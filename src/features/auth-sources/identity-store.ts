import { and, asc, eq } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { type AuthSourceRow, authSources } from '../../../db/schema/auth-sources.ts'
import { type ExternalIdentityRow, externalIdentities } from '../../../db/schema/external-identities.ts'
import { type UserRow, users } from '../../../db/schema/users.ts'

type NewIdentity = typeof externalIdentities.$inferInsert
type WhoElsewhere = Pick<ExternalIdentityRow, 'sourceId' | 'subject'>

/** Whose account it is. */
export async function findIdentityOwner(
  db: Db,
  { sourceId, subject }: WhoElsewhere,
): Promise<{ identity: ExternalIdentityRow; user: UserRow } | undefined> {
  const [row] = await db
    .select({ identity: externalIdentities, user: users })
    .from(externalIdentities)
    .innerJoin(users, eq(users.id, externalIdentities.userId))
    .where(and(eq(externalIdentities.sourceId, sourceId), eq(externalIdentities.subject, subject)))
  return row
}

export interface ConnectedIdentity {
  identity: ExternalIdentityRow
  source: AuthSourceRow
}

/** One for each source at most, by the name of the source. */
export const listIdentities = (db: Db, userId: number): Promise<ConnectedIdentity[]> =>
  db
    .select({ identity: externalIdentities, source: authSources })
    .from(externalIdentities)
    .innerJoin(authSources, eq(authSources.id, externalIdentities.sourceId))
    .where(eq(externalIdentities.userId, userId))
    .orderBy(asc(authSources.name))

/** Whether anybody is connected with a source. */
export async function hasIdentities(db: Db, sourceId: number): Promise<boolean> {
  const rows = await db
    .select({ id: externalIdentities.id })
    .from(externalIdentities)
    .where(eq(externalIdentities.sourceId, sourceId))
    .limit(1)
  return rows.length > 0
}

/** @throws what `violatedConstraint` names, where it is somebody else's, or the person has another one at this source */
export async function insertIdentity(tx: Db, values: NewIdentity): Promise<ExternalIdentityRow> {
  const [row] = await tx.insert(externalIdentities).values(values).returning()
  if (row === undefined) throw new Error('insert returned no row')
  return row
}

export async function recordIdentityUse(
  tx: Db,
  id: number,
  { label, now }: { label: string; now: Date },
): Promise<boolean> {
  const rows = await tx
    .update(externalIdentities)
    .set({ label, lastUsedAt: now })
    .where(eq(externalIdentities.id, id))
    .returning({ id: externalIdentities.id })
  return rows.length > 0
}

export async function removeIdentity(tx: Db, userId: number, id: number): Promise<ExternalIdentityRow | undefined> {
  const [row] = await tx
    .delete(externalIdentities)
    .where(and(eq(externalIdentities.userId, userId), eq(externalIdentities.id, id)))
    .returning()
  return row
}
