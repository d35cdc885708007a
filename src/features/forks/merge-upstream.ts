import { decideRights } from '../../access/decide.ts'
import { findRepositoryById, type LoadedRepository } from '../../access/load.ts'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import { Level } from '../../access/units.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { isGitError } from '../../git/errors.ts'
import type { Commit } from '../../git/model.ts'
import { isValidBranchName } from '../../git/names.ts'
import { badRequest, conflict, invalid, notFound } from '../../kernel/errors.ts'
import { signaturesOf, signFor } from '../contents/signatures.ts'
import { copyLfsObjects } from '../lfs/store.ts'
import { loadGuard, requireAllowed } from '../protections/guard.ts'
import { changeRefs, pusherOf } from '../refs/change.ts'
import { BRANCHES } from '../refs/names.ts'
import type { MergeUpstreamRequest } from './schema.ts'

interface Update {
  actor: Actor
  repo: RepositoryAccess
  option: MergeUpstreamRequest
}

export type MergeType = 'up-to-date' | 'fast-forward' | 'merge'

/**
 * Brings a branch of a fork to where the same branch of its parent is, or else the parent's default branch, by a merge where both
 * have moved.
 * @throws Refusal 400 where only a merge would do and none is wanted, 403 where a rule of the branch forbids it, 404 for an unknown branch and for a parent that the caller
 * may not read, 409 where the changes contradict each other or the branch moves meanwhile, 422 for what is no fork
 */
export async function mergeUpstream(context: Context, { actor, repo, option }: Update): Promise<MergeType> {
  const { git } = context
  const { id } = repo.repository
  const branch = option.branch ?? ''
  const parent = await requireParent(context, actor, repo)
  const ours = await findTip(context, id, branch)
  if (!ours) throw notFound(`branch does not exist [repo_id: ${id} name: ${branch}]`)
  const theirs =
    (await findTip(context, parent.repository.id, branch)) ??
    (await findTip(context, parent.repository.id, parent.repository.defaultBranch))
  if (!theirs) throw notFound('the parent has no branch to merge')
  await git.fetchCommit(id, { repositoryId: parent.repository.id, sha: theirs.sha })
  if (await git.isAncestor(id, theirs.sha, ours.sha)) return 'up-to-date'
  const isForward = await git.isAncestor(id, ours.sha, theirs.sha)
  if (!isForward && option.ff_only) throw badRequest('fast-forward merge not possible: branch has diverged')
  const next = isForward ? theirs : await merge(context, actor, { id, ours, theirs })
  // Before the branch moves: whoever sees the new files finds what they stand for.
  await copyLfsObjects(context.db, { from: parent.repository.id, to: id, now: context.clock.now() })
  await move(context, { actor, repo }, { ref: BRANCHES + branch, old: ours.sha, new: next.sha })
  return isForward ? 'fast-forward' : 'merge'
}

/** Who cannot read the parent gets nothing of it by way of the fork. */
async function requireParent(
  { db, config }: Context,
  actor: Actor,
  { repository }: RepositoryAccess,
): Promise<LoadedRepository> {
  if (repository.parentId === null) throw invalid('the repository is no fork')
  const parent = await findRepositoryById(db, repository.parentId, actor.user.id)
  if (!parent || decideRights(config, actor, parent).level('repo.code') < Level.read) throw notFound()
  return parent
}

const findTip = async ({ git }: Context, id: number, branch: string): Promise<Commit | undefined> =>
  isValidBranchName(branch) ? git.findBranch(id, branch) : undefined

async function merge(
  context: Context,
  actor: Actor,
  { id, ours, theirs }: { id: number; ours: Commit; theirs: Commit },
): Promise<Commit> {
  const by = signaturesOf(context, actor.user, {})
  const sign = await signFor(context, actor, by)
  // Wire: Gitea's words.
  const message = 'merge upstream\n'
  try {
    return await context.git.mergeCommits(id, { ...by, sign, message, ours: ours.sha, theirs: theirs.sha })
  } catch (error) {
    if (isGitError(error) && error.code === 'merge-conflict') throw conflict('the changes of the parent conflict')
    throw error
  }
}

async function move(
  context: Context,
  { actor, repo }: Pick<Update, 'actor' | 'repo'>,
  change: { ref: string; old: string; new: string },
): Promise<void> {
  await requireAllowed(context, await loadGuard(context, { actor, repository: repo.repository }), [change])
  const subject = { repositoryId: repo.repository.id, pusher: pusherOf(actor.user, repo) }
  try {
    await changeRefs(context, subject, [change])
  } catch (error) {
    if (isGitError(error) && error.code === 'ref-moved') throw conflict('the branch has moved meanwhile, try again')
    throw error
  }
}
