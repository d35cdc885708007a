import { eq } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import type { RepositoryRow } from '../../../db/schema/repositories.ts'
import { type RepositoryTransferRow, repositoryTransfers } from '../../../db/schema/repository-transfers.ts'
import { type UserRow, users } from '../../../db/schema/users.ts'
import { decideRights } from '../../access/decide.ts'
import { findRepositoryById } from '../../access/load.ts'
import { mayCreateIn } from '../../access/load-account.ts'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import { Level } from '../../access/units.ts'
import { recordAudit } from '../../audit/record.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { forbidden, notFound } from '../../kernel/errors.ts'
import { lockRepository } from '../refs/store.ts'
import { keepAccounts } from '../repositories/deletion-lock.ts'
import { auditSubjectOf } from '../repositories/subject.ts'
import { moveRepository, refusalOfMove } from './move.ts'

interface Answer {
  actor: Actor
  repo: RepositoryAccess
}

/**
 * Takes a repository that was offered.
 * @throws Refusal 403 for anybody but the recipient, for a full quota, and where who offered it does not own it any more, 404 where
 * nothing is offered, 422 for a name that is taken
 */
export async function acceptTransfer(context: Context, { actor, repo }: Answer): Promise<void> {
  let recipient: UserRow | undefined
  try {
    await context.db.transaction(async (tx) => {
      const inside = { ...context, db: tx }
      await keepAccounts(tx)
      const { repository, offer } = await lockOffer(tx, repo.repository.id)
      if (!(await mayTake(tx, actor, offer))) throw forbidden('permission denied')
      const [to, doer] = [await findUser(tx, offer.recipientId), await findUser(tx, offer.doerId)]
      if (!to || !doer) throw notFound()
      recipient = to
      if (!(await stillOwns(inside, doer, repository.id)))
        throw forbidden('who offered the repository does not own it any more')
      const { owner: from } = repo
      if (repository.ownerId !== from.id) throw notFound()
      await moveRepository(inside, actor, { repository, from, to, teamIds: offer.teamIds })
    })
  } catch (error) {
    throw (recipient && refusalOfMove(error, recipient, repo.repository)) ?? error
  }
}

/**
 * Ends an offer. An owner of the repository takes it back, so that nobody who never answers keeps it waiting.
 * @throws Refusal 403 for anybody but the recipient and the owner, 404 where nothing is offered
 */
export async function rejectTransfer({ db }: Context, { actor, repo }: Answer): Promise<void> {
  await db.transaction(async (tx) => {
    const { offer } = await lockOffer(tx, repo.repository.id)
    if (repo.rights.overall < Level.owner && !(await mayTake(tx, actor, offer))) throw forbidden('permission denied')
    await tx.delete(repositoryTransfers).where(eq(repositoryTransfers.repositoryId, offer.repositoryId))
    const subject = auditSubjectOf(repo)
    await recordAudit(tx, actor, { action: 'repository.end_offer', subject })
  })
}

interface Locked {
  repository: RepositoryRow
  offer: RepositoryTransferRow
}

/** Whoever answers it at the same moment waits, and then finds none. */
async function lockOffer(tx: Db, repositoryId: number): Promise<Locked> {
  // The repository first, as whoever starts a transfer locks them.
  const repository = await lockRepository(tx, repositoryId)
  const [offer] = await tx
    .select()
    .from(repositoryTransfers)
    .where(eq(repositoryTransfers.repositoryId, repositoryId))
    .for('update')
  if (!repository || !offer) throw notFound(`repository doesn't have a pending transfer [repo_id: ${repositoryId}]`)
  return { repository, offer }
}

const mayTake = async (tx: Db, { user }: Actor, { recipientId }: RepositoryTransferRow): Promise<boolean> =>
  recipientId === user.id || (await mayCreateIn(tx, recipientId, user.id))

async function findUser(tx: Db, id: number): Promise<UserRow | undefined> {
  const [row] = await tx.select().from(users).where(eq(users.id, id))
  return row
}

async function stillOwns({ db, config }: Context, user: UserRow, repositoryId: number): Promise<boolean> {
  const loaded = await findRepositoryById(db, repositoryId, user.id)
  if (!loaded) return false
  return decideRights(config, { user, method: 'session', publicOnly: false }, loaded).overall >= Level.owner
}
