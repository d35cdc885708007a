import { and, eq } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { externalIdentities } from '../../../db/schema/external-identities.ts'
import type { UserRow } from '../../../db/schema/users.ts'

interface Place {
  sourceId: number
  subject: string
}

/**
 * Makes an account one of a source: `source_id` and `login_name` say nothing that `external_identities` does not say.
 * @throws what `violatedConstraint` names, where somebody else is this subject
 */
export async function placeAt(tx: Db, { id }: Pick<UserRow, 'id'>, place: Place): Promise<void> {
  await tx
    .insert(externalIdentities)
    .values({ userId: id, ...place })
    .onConflictDoUpdate({
      target: [externalIdentities.userId, externalIdentities.sourceId],
      set: { subject: place.subject, label: '', lastUsedAt: null },
    })
}

/** Whoever was this person at the source is so no longer. */
export async function leavePlace(tx: Db, { id }: Pick<UserRow, 'id'>, sourceId: number): Promise<void> {
  await tx
    .delete(externalIdentities)
    .where(and(eq(externalIdentities.userId, id), eq(externalIdentities.sourceId, sourceId)))
}
