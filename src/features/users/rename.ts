import { eq, sql } from 'drizzle-orm'
import { type UserRow, userRedirects, users } from '../../../db/schema/users.ts'
import { violatedConstraint } from '../../../db/violations.ts'
import { type AuditSource, recordAudit } from '../../audit/record.ts'
import type { Context } from '../../context.ts'
import { appendEvent } from '../../events/append.ts'
import { invalid, notFound } from '../../kernel/errors.ts'
import { claimName } from './claim-name.ts'
import { requireOwnerName } from './create.ts'
import { lockAccount } from './lock.ts'

/**
 * Gives a person or an organization another name. The old one leads to the new until somebody else takes it.
 * @throws Refusal 422 for a name that is taken or cannot be taken
 */
export async function renameAccount(
  context: Context,
  account: UserRow,
  { newName, by }: { newName: string; by: AuditSource },
): Promise<void> {
  if (newName === account.name) return
  requireOwnerName(newName, 'new_name')
  try {
    await context.db.transaction(async (tx) => {
      // Of two renames at once the second one starts from the name that the first one gave, so that this leads on too.
      const current = await lockAccount(tx, account.id)
      if (!current) throw notFound()
      await rename({ ...context, db: tx }, current, { newName, by })
      await claimName(tx, context, { id: account.id, lowerName: newName.toLowerCase() })
    })
  } catch (error) {
    if (violatedConstraint(error) !== 'users_lower_name_key') throw error
    throw invalid(`user already exists [name: ${newName}]`)
  }
}

async function rename(
  { db: tx, clock }: Context,
  account: UserRow,
  { newName, by }: { newName: string; by: AuditSource },
): Promise<void> {
  // By the clock that later decides how long the name is reserved.
  const createdAt = clock.now()
  await tx.update(users).set({ name: newName, updatedAt: sql`now()` }).where(eq(users.id, account.id))
  if (newName.toLowerCase() !== account.lowerName)
    await tx
      .insert(userRedirects)
      .values({ lowerName: account.lowerName, userId: account.id, createdAt })
      .onConflictDoUpdate({ target: userRedirects.lowerName, set: { userId: account.id, createdAt } })
  await appendEvent(tx, {
    kind: account.kind === 'user' ? 'user.renamed' : 'organization.renamed',
    actorId: typeof by === 'string' ? null : by.user.id,
    ownerId: account.id,
    payload: { userId: account.id, name: newName, oldName: account.name },
  })
  await recordAudit(tx, by, {
    action: `${account.kind}.rename`,
    subject: { kind: account.kind, id: account.id, name: newName },
    before: { name: account.name },
    after: { name: newName },
  })
}
