import type { UserRow } from '../../../db/schema/users.ts'
import { findAssignable } from '../../access/assignable.ts'
import { isBlocked } from '../../access/blocks.ts'
import { decideRights, maySeeOwner } from '../../access/decide.ts'
import { Level, levelWord } from '../../access/levels.ts'
import { findRepositoryById } from '../../access/load.ts'
import { findAccount } from '../../access/load-account.ts'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import { recordAudit } from '../../audit/record.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { forbidden, invalid, notFound } from '../../kernel/errors.ts'
import {
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

/** Wire: somebody unknown is 422 here. @throws Refusal 422 in the same words for somebody who hides from the caller */
async function findPerson({ db, config }: Context, { actor, name }: Asked): Promise<UserRow> {
  const account = await findAccount(db, name, actor?.user.id)
  if (!account || !maySeeOwner(config, actor, account.row, account.isMember))
    throw invalid(`user does not exist [name: ${name}]`)
  return account.row
}

/** @throws Refusal 404 for somebody who is no collaborator, 422 for somebody unknown */
export async function requireCollaborator(context: Context, target: Asked): Promise<void> {
  const person = await findPerson(context, target)
  if ((await findCollaboration(context.db, target.repo.repository.id, person.id)) === undefined) throw notFound()
}

/** @throws Refusal 403 for somebody whom the owner has blocked or who has blocked the owner, 422 for the owner and for an organization */
export async function addCollaborator(context: Context, target: Target, permission: Grant): Promise<void> {
  const { actor, repo } = target
  const person = await findPerson(context, target)
  if (person.kind !== 'user') throw invalid('only people can collaborate; organizations have teams')
  if (person.id === repo.owner.id) throw invalid('the owner needs no access')
  const [byOwner, byPerson] = await Promise.all([
    isBlocked(context.db, { blockerId: repo.owner.id, blockedId: person.id }),
    isBlocked(context.db, { blockerId: person.id, blockedId: repo.owner.id }),
  ])
  if (byOwner || byPerson) throw forbidden('the owner has blocked this user, or the user the owner')
  await context.db.transaction(async (tx) => {
    await upsertCollaboration(tx, { repositoryId: repo.repository.id, userId: person.id, permission })
    const after = { collaborator: person.name, permission }
    await recordAudit(tx, actor, { action: 'repository.add_collaborator', subject: subjectOf(repo), after })
  })
}

/** Ends what the access carried as well. Wire: taking out somebody who is no collaborator is no error. */
export async function removeCollaborator(context: Context, target: Target): Promise<void> {
  const { actor, repo } = target
  const { id } = repo.repository
  const account = await findAccount(context.db, target.name, actor.user.id)
  // Also somebody who hides: whoever administers the repository sees them in its list.
  if (!account) throw invalid(`user does not exist [name: ${target.name}]`)
  const { row: person, isMember } = account
  await context.db.transaction(async (tx) => {
    const permission = await removeCollaboration(tx, id, person.id)
    if (permission === undefined) {
      if (!maySeeOwner(context.config, actor, person, isMember))
        throw invalid(`user does not exist [name: ${target.name}]`)
      return
    }
    if ((await levelOf({ ...context, db: tx }, id, person)) < Level.read) await removeWatch(tx, id, person.id)
    const [assignable] = await findAssignable(tx, repo.repository, [person.name])
    if (!assignable) await removeAssignments(tx, id, person.id)
    const before = { collaborator: person.name, permission }
    await recordAudit(tx, actor, { action: 'repository.remove_collaborator', subject: subjectOf(repo), before })
  })
}

/** @throws Refusal 403 unless an administrator of the repository or the person asks, 404 for somebody unknown */
export async function readPermission(context: Context, { actor, repo, name }: Asked) {
  const account = await findAccount(context.db, name, actor?.user.id)
  const isSelf = actor !== undefined && account?.row.id === actor.user.id
  if (!isSelf && repo.rights.overall < Level.admin)
    throw forbidden('only administrators of the repository can read the permission of others')
  if (!account || !maySeeOwner(context.config, actor, account.row, account.isMember)) throw notFound()
  return { user: account.row, permission: levelWord(await levelOf(context, repo.repository.id, account.row)) }
}

/** What somebody may do at most, whoever asks. */
async function levelOf({ db, config }: Context, repositoryId: number, user: UserRow): Promise<Level> {
  const loaded = await findRepositoryById(db, repositoryId, user.id)
  if (!loaded) return Level.none
  return decideRights(config, { user, method: 'session', publicOnly: false }, loaded).highest
}

const subjectOf = ({ repository, fullName }: RepositoryAccess) => ({
  kind: 'repository',
  id: repository.id,
  name: fullName,
})
