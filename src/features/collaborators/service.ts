import type { UserRow } from '../../../db/schema/users.ts'
import { findAssignable, isReviewer, listReviewers } from '../../access/assignable.ts'
import { isBlockedInside } from '../../access/blocks.ts'
import { decideRights, maySeeOwner } from '../../access/decide.ts'
import { findRepositoryById } from '../../access/load.ts'
import { findAccount, type LoadedAccount } from '../../access/load-account.ts'
import { requireOwnedQuota } from '../../access/quota.ts'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import { Level, levelWord } from '../../access/units.ts'
import { recordAudit } from '../../audit/record.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { forbidden, invalid, notFound } from '../../kernel/errors.ts'
import { auditSubjectOf } from '../repositories/subject.ts'
import {
  countCollaborators,
  findCollaboration,
  type Grant,
  removeAssignments,
  removeCollaboration,
  removeWatch,
  upsertCollaboration,
} from './store.ts'

interface Asked {
  actor: Actor | undefined
  repo: RepositoryAccess
  name: string
}

interface Target extends Asked {
  actor: Actor
}

/** Wire: somebody unknown is 422 here. Naming somebody exactly is no listing: it may be one who hides. @throws Refusal 422 */
async function findPerson({ db }: Context, { actor, name }: Target): Promise<LoadedAccount> {
  const account = await findAccount(db, name, actor.user.id)
  if (!account) throw unknownPerson(name)
  return account
}

const unknownPerson = (name: string) => invalid(`user does not exist [name: ${name}]`)

/** @throws Refusal 404 for somebody who is no collaborator, 422 for somebody unknown, and for one who hides and is no collaborator */
export async function requireCollaborator({ db, config }: Context, { actor, repo, name }: Asked): Promise<void> {
  const account = await findAccount(db, name, actor?.user.id)
  const permission = await findCollaboration(db, repo.repository.id, account?.row.id ?? 0)
  if (permission !== undefined) return
  if (!account || !maySeeOwner(config, actor, account.row, account.isRelated)) throw unknownPerson(name)
  throw notFound()
}

/** @throws Refusal 403 for somebody whom the owner has blocked or who has blocked the owner, 422 for the owner, an organization and one too many */
export async function addCollaborator(context: Context, target: Target, permission: Grant): Promise<void> {
  const { actor, repo } = target
  const { row: person } = await findPerson(context, target)
  if (person.kind !== 'user') throw invalid('only people can collaborate; organizations have teams')
  if (person.id === repo.owner.id) throw invalid('the owner needs no access')
  await context.db.transaction(async (tx) => {
    const byOwner = await isBlockedInside(tx, { blockerId: repo.owner.id, blockedId: person.id })
    const byPerson = await isBlockedInside(tx, { blockerId: person.id, blockedId: repo.owner.id })
    if (byOwner || byPerson) throw forbidden('the owner has blocked this user, or the user the owner')
    const { id: repositoryId } = repo.repository
    await upsertCollaboration(tx, { repositoryId, userId: person.id, permission })
    await requireOwnedQuota(tx, context.config, {
      items: 'collaborators',
      of: `repository ${repositoryId}`,
      count: () => countCollaborators(tx, repositoryId),
    })
    const after = { collaborator: person.name, permission }
    await recordAudit(tx, actor, {
      action: 'repository.add_collaborator',
      subject: auditSubjectOf(repo),
      after,
    })
  })
}

/** Ends what the access carried as well. Wire: taking out somebody who is no collaborator is no error. */
export async function removeCollaborator(context: Context, target: Target): Promise<void> {
  const { actor, repo } = target
  const { id } = repo.repository
  const { row: person, isRelated } = await findPerson(context, target)
  await context.db.transaction(async (tx) => {
    const permission = await removeCollaboration(tx, id, person.id)
    if (permission === undefined) {
      if (!maySeeOwner(context.config, actor, person, isRelated)) throw unknownPerson(target.name)
      return
    }
    if ((await levelOf({ ...context, db: tx }, id, person)) < Level.read) await removeWatch(tx, id, person.id)
    const [assignable] = await findAssignable(tx, repo.repository, [person.name])
    if (!assignable) await removeAssignments(tx, id, person.id)
    const before = { collaborator: person.name, permission }
    await recordAudit(tx, actor, {
      action: 'repository.remove_collaborator',
      subject: auditSubjectOf(repo),
      before,
    })
  })
}

/** @throws Refusal 403 unless an administrator of the repository or the person asks, 404 for somebody unknown */
export async function readPermission(context: Context, { actor, repo, name }: Asked) {
  const account = await findAccount(context.db, name, actor?.user.id)
  const isSelf = actor !== undefined && account?.row.id === actor.user.id
  if (!isSelf && repo.rights.overall < Level.admin)
    throw forbidden('only administrators of the repository can read the permission of others')
  const isCollaborator = (await findCollaboration(context.db, repo.repository.id, account?.row.id ?? 0)) !== undefined
  if (!account || !(isCollaborator || maySeeOwner(context.config, actor, account.row, account.isRelated)))
    throw notFound()
  return { user: account.row, permission: levelWord(await levelOf(context, repo.repository.id, account.row)) }
}

/** @throws Refusal 403 unless the caller was given the repository, or administrates the site, and while it is archived */
export async function getReviewers(
  { db }: Context,
  { actor, repo: { repository } }: { actor: Actor | undefined; repo: RepositoryAccess },
): Promise<UserRow[]> {
  const mayAsk = actor !== undefined && (actor.user.isAdmin || (await isReviewer(db, repository, actor.user.id)))
  if (!mayAsk || repository.isArchived) throw forbidden('doer has no permission to get reviewers')
  return listReviewers(db, repository)
}

/** What somebody may do at most, whoever asks. */
async function levelOf({ db, config }: Context, repositoryId: number, user: UserRow): Promise<Level> {
  const loaded = await findRepositoryById(db, repositoryId, user.id)
  if (!loaded) return Level.none
  return decideRights(config, { user, method: 'session', publicOnly: false }, loaded).highest
}
