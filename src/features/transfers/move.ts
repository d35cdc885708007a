import { and, eq, sql } from 'drizzle-orm'
import { anyOf } from '../../../db/any-of.ts'
import type { Db } from '../../../db/client.ts'
import { issueLabels, issues, labels } from '../../../db/schema/issues.ts'
import { teamRepositories, teams } from '../../../db/schema/organizations.ts'
import {
  branchProtections,
  branchProtectionTeams,
  tagProtections,
  tagProtectionTeams,
} from '../../../db/schema/protections.ts'
import { collaborations, type RepositoryRow } from '../../../db/schema/repositories.ts'
import { repositoryTransfers } from '../../../db/schema/repository-transfers.ts'
import type { UserRow } from '../../../db/schema/users.ts'
import { violatedConstraint } from '../../../db/violations.ts'
import { recordAudit } from '../../audit/record.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { appendEvent } from '../../events/append.ts'
import { invalid, notFound, type Refusal } from '../../kernel/errors.ts'
import {
  countOwned,
  endRedirect,
  insertRedirect,
  insertTeamWatches,
  insertWatch,
  updateRepository,
} from '../repositories/store.ts'
import { auditSubjectOf, payloadOf, subjectOf } from '../repositories/subject.ts'
import { requireQuota } from '../repository-creation/create.ts'

interface Move {
  /** Locked by the caller. */
  repository: RepositoryRow
  from: UserRow
  to: UserRow
  teamIds: readonly number[]
}

/**
 * Gives a repository to another owner. Nothing on the disk names the owner, so a commit of rows is all of it. Collaborators, stars and
 * watches stay; what only the old owner could give goes. `context.db` is the transaction.
 * @throws Refusal 403 for a full quota, and what `refusalOfMove` reads
 */
export async function moveRepository(context: Context, actor: Actor, move: Move): Promise<void> {
  const { db, clock } = context
  const { repository, from, to } = move
  const row = await updateRepository(db, repository.id, { ownerId: to.id, updatedAt: clock.now() })
  if (!row) throw notFound()
  requireQuota(context, actor, { owner: to, owned: await countOwned(db, to.id), more: 0 })
  await endRedirect(db, row)
  await insertRedirect(db, repository)
  await changeReach(db, move)
  await removeForeignLabels(db, repository.id, to.id)
  if (to.kind === 'user') await insertWatch(db, to.id, row.id)
  else await insertTeamWatches(db, row.id)
  await db.delete(repositoryTransfers).where(eq(repositoryTransfers.repositoryId, row.id))
  await recordAudit(db, actor, {
    action: 'repository.transfer',
    subject: auditSubjectOf({ repository: row, owner: to }),
    before: { owner: from.name },
    after: { owner: to.name },
  })
  await appendEvent(db, {
    ...subjectOf(row, actor),
    kind: 'repository.transferred',
    payload: { ...payloadOf(row, to), oldOwnerId: from.id, oldOwnerName: from.name },
  })
}

/** Teams belong to one organization, and an owner is no collaborator. */
async function changeReach(tx: Db, { repository: { id }, to, teamIds }: Move): Promise<void> {
  await tx.delete(teamRepositories).where(eq(teamRepositories.repositoryId, id))
  await tx.delete(collaborations).where(and(eq(collaborations.repositoryId, id), eq(collaborations.userId, to.id)))
  const found = await tx
    .select({ teamId: teams.id })
    .from(teams)
    .where(and(anyOf(teams.id, teamIds), eq(teams.organizationId, to.id)))
  await removeForeignTeams(tx, id, to.id)
  if (found.length > 0) await tx.insert(teamRepositories).values(found.map((team) => ({ ...team, repositoryId: id })))
}

/** From the rules for branches and tags. */
async function removeForeignTeams(tx: Db, repositoryId: number, ownerId: number): Promise<void> {
  const foreign = sql`select id from ${teams} where ${teams.organizationId} <> ${ownerId}`
  await tx.execute(sql`
    delete from ${branchProtectionTeams} where team_id in (${foreign})
      and protection_id in (select id from ${branchProtections} where repository_id = ${repositoryId})`)
  await tx.execute(sql`
    delete from ${tagProtectionTeams} where team_id in (${foreign})
      and protection_id in (select id from ${tagProtections} where repository_id = ${repositoryId})`)
}

/** Labels of an organization are for its own repositories. */
async function removeForeignLabels(tx: Db, repositoryId: number, ownerId: number): Promise<void> {
  await tx.execute(sql`
    delete from ${issueLabels} using ${issues}, ${labels}
    where ${issues.id} = ${issueLabels.issueId} and ${issues.repositoryId} = ${repositoryId}
      and ${labels.id} = ${issueLabels.labelId} and ${labels.organizationId} <> ${ownerId}`)
}

export const nameTaken = (to: UserRow, { name }: RepositoryRow): Refusal =>
  invalid(`repository already exists [uname: ${to.name}, name: ${name}]`)

/** What a unique index has said, where another request was quicker. */
export function refusalOfMove(error: unknown, to: UserRow, repository: RepositoryRow): Refusal | undefined {
  switch (violatedConstraint(error)) {
    case 'repositories_owner_name_key':
      return nameTaken(to, repository)
    case 'repositories_fork_key':
      return invalid('the new owner has a fork of the same repository already')
    default:
      return undefined
  }
}
