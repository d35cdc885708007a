import { and, asc, eq, inArray, ne, notExists, or, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import { anyOf } from '../../../db/any-of.ts'
import type { Db } from '../../../db/client.ts'
import { organizationMembers, teamMembers, teams } from '../../../db/schema/organizations.ts'
import { repositories } from '../../../db/schema/repositories.ts'
import { type UserRow, users } from '../../../db/schema/users.ts'
import { recordAudit } from '../../audit/record.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { appendEvent } from '../../events/append.ts'
import { invalid, notFound } from '../../kernel/errors.ts'
import { lockDeletions } from '../repositories/deletion-lock.ts'
import { deleteRepository } from '../repositories/remove.ts'
import { holdNames } from '../users/claim-name.ts'
import { requireAnotherAdministrator } from './administrators.ts'
import { requirePerson } from './service.ts'

/**
 * Deletes a person. What they wrote stays, as the ghost's. With `purge` what they own goes too: repositories, and organizations that
 * nobody else owns.
 * @throws Refusal 422 for oneself, an organization, the last administrator, and, without `purge`, for somebody who owns
 * repositories or belongs to organizations
 */
export async function deleteUser(
  context: Context,
  { user, by, purge }: { user: UserRow; by: Actor; purge: boolean },
): Promise<void> {
  requirePerson(user)
  if (user.id === by.user.id || user.id === by.sudoer?.id) throw invalid('you cannot delete yourself')
  await context.db.transaction(async (tx) => {
    const inside = { ...context, db: tx }
    await lockDeletions(tx)
    // This lock next, as where an administrator is changed: in the other order two of them could wait for each other.
    await requireAnotherAdministrator(tx, user)
    await tx.execute(sql`select 1 from ${users} where ${users.id} = ${user.id} for update`)
    if (purge) await purgeOwned(inside, by, user)
    else await requireNothingOwned(tx, user)
    await removeAccount(inside, by, user)
  })
}

async function requireNothingOwned(tx: Db, user: UserRow): Promise<void> {
  if ((await tx.$count(repositories, eq(repositories.ownerId, user.id))) > 0)
    throw invalid(`user still has ownership of repositories [uid: ${user.id}]`)
  if ((await tx.$count(organizationMembers, eq(organizationMembers.userId, user.id))) > 0)
    throw invalid(`user still has membership of organizations [uid: ${user.id}]`)
}

async function purgeOwned(inside: Context, by: Actor, user: UserRow): Promise<void> {
  const organizations = await listSolelyOwned(inside.db, user)
  await lockRepositoriesOf(inside.db, [user, ...organizations])
  for (const organization of organizations) {
    await deleteRepositoriesOf(inside, by, organization)
    await removeAccount(inside, by, organization)
  }
  await deleteRepositoriesOf(inside, by, user)
}

/**
 * All that is to go, and the forks that lose their parent, before anything else that belongs to them. One after the other, each would
 * be waited for with the deploy keys of the last in hand, and whoever adds such a key holds a repository and waits for the key.
 */
async function lockRepositoriesOf(tx: Db, owners: readonly UserRow[]): Promise<void> {
  const ofOwners = anyOf(
    repositories.ownerId,
    owners.map(({ id }) => id),
  )
  const parents = tx.select({ id: repositories.id }).from(repositories).where(ofOwners)
  await tx
    .select({ id: repositories.id })
    .from(repositories)
    .where(or(ofOwners, inArray(repositories.parentId, parents)))
    .orderBy(asc(repositories.id))
    .for('update')
}

/** Organizations whose owners are this person alone. */
async function listSolelyOwned(tx: Db, user: UserRow): Promise<UserRow[]> {
  const other = alias(teamMembers, 'other')
  const otherOwners = tx
    .select({ userId: other.userId })
    .from(other)
    .where(and(eq(other.teamId, teams.id), ne(other.userId, user.id)))
  const rows = await tx
    .select({ organization: users })
    .from(teamMembers)
    .innerJoin(teams, and(eq(teams.id, teamMembers.teamId), eq(teams.permission, 'owner')))
    .innerJoin(users, eq(users.id, teams.organizationId))
    .where(and(eq(teamMembers.userId, user.id), notExists(otherOwners)))
  return rows.map(({ organization }) => organization)
}

async function deleteRepositoriesOf(inside: Context, by: Actor, owner: UserRow): Promise<void> {
  const owned = await inside.db.select().from(repositories).where(eq(repositories.ownerId, owner.id))
  for (const repository of owned) await deleteRepository(inside, by, { repository, owner })
}

async function removeAccount(inside: Context, by: Actor, account: UserRow): Promise<void> {
  const { db: tx } = inside
  await holdNames(tx, inside, account)
  const gone = await tx.delete(users).where(eq(users.id, account.id)).returning({ id: users.id })
  if (gone.length === 0) throw notFound()
  await appendEvent(tx, {
    kind: account.kind === 'user' ? 'user.deleted' : 'organization.deleted',
    actorId: by.user.id,
    ownerId: account.id,
    payload: { userId: account.id, name: account.name },
  })
  const subject = { kind: account.kind, id: account.id, name: account.name }
  await recordAudit(tx, by, { action: `${account.kind}.delete`, subject, before: { email: account.email } })
}
