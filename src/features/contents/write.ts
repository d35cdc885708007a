import type { RepositoryAccess } from '../../access/repository-access.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { type GitError, isGitError } from '../../git/errors.ts'
import type { FilesCommit, FilesCommitted, TreeChange } from '../../git/model.ts'
import { isValidBranchName } from '../../git/names.ts'
import { conflict, forbidden, invalid, locked, notFound, type Refusal } from '../../kernel/errors.ts'
import { findFilesViolation, loadGuard } from '../protections/guard.ts'
import { pusherOf, recordPush } from '../refs/change.ts'
import { describeChanges, readChange } from './changes.ts'
import { commitMutex, commitPatiently } from './commit.ts'
import type { ChangeFileOperation, CommitOptions } from './schema.ts'
import { signaturesOf, signFor } from './signatures.ts'

export interface Subject {
  actor: Actor
  repo: RepositoryAccess
}

/** What the caller asks for, and what comes of it in Git. */
export interface Wanted {
  option: CommitOptions
  changes: TreeChange[]
  /** Where the caller has given none. */
  message: string
}

/**
 * Makes one commit of all operations or none, with what follows from a push: rows, events, counters. When the branch moves
 * meanwhile, the operations are applied again to where it is then, each with its own check of the blob, so that two commits to
 * different files both succeed and nobody's edit is lost.
 * @throws Refusal 403 for what a rule of the branch forbids, 404 for an unknown branch or file, 409 when the branch keeps moving, 422 for
 * what cannot be applied, 423 for a mirror
 */
export async function changeFiles(
  context: Context,
  subject: Subject,
  { option, operations }: { option: CommitOptions; operations: readonly ChangeFileOperation[] },
): Promise<FilesCommitted> {
  const changes = operations.map(readChange)
  return commitChanges(context, subject, { option, changes, message: describeChanges(operations) })
}

/** The same for a patch as `git diff` writes it: what it does to a file holds only as long as the file is what it was applied to. */
export async function applyPatch(
  context: Context,
  subject: Subject,
  { option, patch }: { option: CommitOptions; patch: string },
): Promise<FilesCommitted> {
  requireChangeable(subject.repo)
  const { repository } = subject.repo
  const { branch } = branchesOf(repository.defaultBranch, option)
  const changes = await refusing({ branch }, () => context.git.readPatch(repository.id, { branch, patch }))
  return commitChanges(context, subject, { option, changes, message: 'apply-patch' })
}

function requireChangeable(repo: RepositoryAccess): void {
  if (repo.repository.isMirror) throw locked(`${repo.fullName} is a mirror`)
}

async function commitChanges(
  context: Context,
  { actor, repo }: Subject,
  { option, changes, message }: Wanted,
): Promise<FilesCommitted> {
  const { repository } = repo
  requireChangeable(repo)
  const by = signaturesOf(context, actor.user, option)
  const commit: FilesCommit = {
    ...branchesOf(repository.defaultBranch, option),
    ...by,
    sign: await signFor(context, actor, by),
    changes,
    message: option.message?.trim() || message,
    signoff: option.signoff,
    // Wire: an edit that changes nothing is a commit all the same.
    allowEmpty: true,
  }
  await requireUnprotected(context, { actor, repo }, commit)
  const subject = { repositoryId: repository.id, pusher: pusherOf(actor.user, repo) }
  return refusing(commit, () =>
    commitMutex.run(repository.id, () =>
      recordPush(context, { ...subject, newRefs: commit.newBranch === undefined ? 0 : 1 }, async () => {
        const result = await commitPatiently(context.git, repository.id, () => commit, { pusher: subject.pusher })
        return { refs: [result.ref], result }
      }),
    ),
  )
}

type Branches = Pick<FilesCommit, 'branch' | 'newBranch'>

/** Answers the caller with the reason for which Git refused. */
async function refusing<Result>(branches: Branches, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    throw (isGitError(error) && refusalOf(error, branches)) || error
  }
}

/** @throws Refusal 403 for what a rule of the branch forbids */
async function requireUnprotected(context: Context, { actor, repo }: Subject, commit: FilesCommit): Promise<void> {
  const { repository } = repo
  const guard = await loadGuard(context, { actor, repository })
  if (guard.branchRules.length === 0) return
  const { branch, newBranch } = commit
  const from = newBranch === undefined ? undefined : await context.git.findBranch(repository.id, branch)
  const replaced = newBranch === undefined ? undefined : await context.git.findBranch(repository.id, newBranch)
  const fault = await findFilesViolation(context, guard, {
    branch: newBranch ?? branch,
    from: from?.sha,
    paths: commit.changes.flatMap((change) => ('fromPath' in change ? [change.fromPath, change.path] : [change.path])),
    isForced: replaced !== undefined,
    isSigned: commit.sign !== undefined,
  })
  if (!fault) return
  if (fault.kind === 'path') throw forbidden(`path is protected and can not be changed [path: ${fault.path}]`)
  if (newBranch !== undefined) throw forbidden(`Not allowed to push to protected branch ${newBranch}`)
  throw forbidden(`user cannot commit to repo [user: ${actor.user.name}]`)
}

function branchesOf(
  defaultBranch: string,
  option: CommitOptions,
): Pick<FilesCommit, 'branch' | 'newBranch' | 'replacesNewBranch'> {
  const branch = option.branch || defaultBranch
  const newBranch = option.new_branch && option.new_branch !== branch ? option.new_branch : undefined
  if (!isValidBranchName(branch)) throw invalid('GitRefName', 'branch')
  if (newBranch !== undefined && !isValidBranchName(newBranch)) throw invalid('GitRefName', 'new_branch')
  return { branch, newBranch, replacesNewBranch: option.force_push }
}

/** Wire: what is wrong with the files is 422, also where it came about by another's commit. */
function refusalOf({ code, subject = '' }: GitError, { branch, newBranch }: Branches): Refusal | undefined {
  switch (code) {
    case 'path':
      return notFound(`repository file does not exist [path: ${subject}]`)
    case 'branch-missing':
      return notFound(`branch does not exist [name: ${branch}]`)
    case 'path-exists':
      return invalid(`repository file already exists [path: ${subject}]`)
    case 'blob-moved':
      return invalid(`sha does not match the file [path: ${subject}]`, 'sha')
    case 'path-not-file':
    case 'path-parent-not-folder':
      return invalid(`a part of the path is something else than it would have to be [path: ${subject}]`, 'path')
    case 'path-syntax':
    case 'content':
      return invalid(`the path cannot be written [path: ${subject}]`, 'path')
    case 'patch':
      return invalid(`the patch does not apply${subject && ` [path: ${subject}]`}`, 'content')
    case 'branch-exists':
      return invalid(`branch already exists [name: ${newBranch ?? branch}]`, 'new_branch')
    case 'ref-name-conflict':
      return conflict('a branch with a conflicting name exists')
    case 'head-moved':
      return conflict('the branch keeps moving, try again')
    default:
      return undefined
  }
}
