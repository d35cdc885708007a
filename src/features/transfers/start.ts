import { anyOf } from '../../../db/any-of.ts'
import type { Db } from '../../../db/client.ts'
import { teams } from '../../../db/schema/organizations.ts'
import { repositoryTransfers } from '../../../db/schema/repository-transfers.ts'
import type { UserRow } from '../../../db/schema/users.ts'
import { isBlockedInside } from '../../access/blocks.ts'
import { maySeeOwner } from '../../access/decide.ts'
import { findAccount, mayCreateIn } from '../../access/load-account.ts'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import { recordAudit } from '../../audit/record.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { conflict, forbidden, invalid, notFound } from '../../kernel/errors.ts'
import { lockRepository } from '../refs/store.ts'
import { keepAccounts } from '../repositories/deletion-lock.ts'
import { isNameTaken } from '../repositories/store.ts'
import { auditSubjectOf } from '../repositories/subject.ts'
import { moveRepository, nameTaken, refusalOfMove } from './move.ts'
import type { TransferRepoOption } from './schema.ts'

interface Start {
  actor: Actor
  repo: RepositoryAccess
  option: TransferRepoOption
}

/**
 * Moves a repository where the caller may make repositories themself, and offers it to anybody else.
 * @throws Refusal 403 for a foreign team, a full quota and for somebody who has blocked the caller, 404 for an unknown owner, 409
 * while another offer waits, 422 for a name that is taken, for oneself, for unknown teams and for teams of a person
 */
export async function startTransfer(context: Context, { actor, repo, option }: Start): Promise<'moved' | 'offered'> {
  const to = await requireNewOwner(context, actor, option.new_owner ?? '')
  const teamIds = [...new Set(option.team_ids)]
  await requireTeams(context.db, to, teamIds)
  const isDirect = await mayMoveTo(context.db, actor, to)
  try {
    return await context.db.transaction(async (tx) => {
      const inside = { ...context, db: tx }
      await keepAccounts(tx)
      const repository = await lockRepository(tx, repo.repository.id)
      if (!repository || repository.ownerId !== repo.owner.id) throw notFound()
      if (await isNameTaken(tx, to.id, repository.name)) throw nameTaken(to, repository)
      if (await isBlockedInside(tx, { blockerId: to.id, blockedId: actor.user.id }))
        throw forbidden('the new owner has blocked you')
      await insertOffer(tx, { repositoryId: repository.id, doerId: actor.user.id, recipientId: to.id, teamIds })
      if (isDirect) await moveRepository(inside, actor, { repository, from: repo.owner, to, teamIds })
      else {
        const subject = auditSubjectOf({ repository, owner: repo.owner })
        await recordAudit(tx, actor, { action: 'repository.offer', subject, after: { newOwner: to.name } })
      }
      return isDirect ? 'moved' : 'offered'
    })
  } catch (error) {
    throw refusalOfMove(error, to, repo.repository) ?? error
  }
}

async function requireNewOwner({ db, config }: Context, actor: Actor, name: string): Promise<UserRow> {
  const account = name === '' ? undefined : await findAccount(db, name, actor.user.id)
  if (!account || !maySeeOwner(config, actor, account.row, account.isRelated))
    throw notFound('The new owner does not exist or cannot be found')
  return account.row
}

async function requireTeams(db: Db, to: UserRow, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return
  if (to.kind !== 'organization') throw invalid('Teams can only be added to organization-owned repositories')
  const rows = await db
    .select({ id: teams.id, organizationId: teams.organizationId })
    .from(teams)
    .where(anyOf(teams.id, ids))
  const owners = new Map(rows.map(({ id, organizationId }) => [id, organizationId]))
  for (const id of ids) {
    if (!owners.has(id)) throw invalid(`team ${id} not found`)
    if (owners.get(id) !== to.id) throw forbidden(`team ${id} belongs not to org ${to.id}`)
  }
}

/** Wire: who could make the repository there need not ask. */
const mayMoveTo = async (db: Db, { user }: Actor, to: UserRow): Promise<boolean> =>
  user.isAdmin || to.id === user.id || (to.kind === 'organization' && (await mayCreateIn(db, to.id, user.id)))

/** The key of the row lets one offer wait at a time; a move passes through it too. */
async function insertOffer(tx: Db, offer: typeof repositoryTransfers.$inferInsert): Promise<void> {
  const made = await tx
    .insert(repositoryTransfers)
    .values(offer)
    .onConflictDoNothing()
    .returning({ id: repositoryTransfers.repositoryId })
  if (made.length === 0) throw conflict('repository is already being transferred')
}
