import type { RefRow } from '../../../db/schema/refs.ts'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import { Level } from '../../access/units.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { isGitError } from '../../git/errors.ts'
import type { RefChange } from '../../git/model.ts'
import { isValidBranchName } from '../../git/names.ts'
import { conflict, forbidden, invalid, notFound } from '../../kernel/errors.ts'
import { renameWithRule } from '../protections/branch-service.ts'
import { mayPush } from '../protections/decide.ts'
import { type Guard, loadGuard, requireAllowed } from '../protections/guard.ts'
import { findBranchRule } from '../protections/rules.ts'
import { changeRefs, pusherOf, requireOwnRefs } from '../refs/change.ts'
import { BRANCHES } from '../refs/names.ts'
import type { CreateBranchRepoOption, UpdateBranchRepoOption } from './schema.ts'
import { findBranch, isTag } from './store.ts'

/** A repository and who changes it. */
interface Subject {
  actor: Actor
  repo: RepositoryAccess
}

const EXISTS = 'The branch already exists.'

/** @throws Refusal 404 */
export async function getBranch({ db }: Context, { repository }: RepositoryAccess, name: string): Promise<RefRow> {
  const row = await findBranch(db, repository.id, name)
  if (!row) throw notFound()
  return row
}

/** Wire: a branch that is to be changed is named in the refusal. @throws Refusal 404 */
async function getChanged(context: Context, { repository }: RepositoryAccess, name: string): Promise<RefRow> {
  const row = await findBranch(context.db, repository.id, name)
  if (!row) throw notFound('not found', [`branch does not exist [name: ${name}]`])
  return row
}

/** @throws Refusal 403 for a protected name, 404 where there is nothing to start from, 409 when the name is in use, 422 for a name that cannot be. */
export async function createBranch(
  context: Context,
  subject: Subject,
  option: CreateBranchRepoOption,
): Promise<RefRow> {
  const { repository } = subject.repo
  requireOwnRefs(subject.repo)
  requireName(option.new_branch_name, 'new_branch_name')
  if (repository.isEmpty) throw notFound('Git Repository is empty.')
  if (await findBranch(context.db, repository.id, option.new_branch_name)) throw conflict(EXISTS)
  if (await isTag(context.db, repository.id, option.new_branch_name)) throw conflict('A tag has this name already.')
  const start = option.old_ref_name || option.old_branch_name || repository.defaultBranch
  const sha = await context.git.findCommit(repository.id, start)
  if (sha === undefined) throw notFound('The old branch does not exist')
  const moves = [{ ref: BRANCHES + option.new_branch_name, old: null, new: sha }]
  await requireAllowed(context, await guardOf(context, subject), moves)
  await move(context, subject, moves)
  return getBranch(context, subject.repo, option.new_branch_name)
}

/** @throws Refusal 403 for the default branch and for a protected one, 404 */
export async function deleteBranch(context: Context, subject: Subject, name: string): Promise<void> {
  requireOwnRefs(subject.repo)
  const { sha } = await getChanged(context, subject.repo, name)
  if (name === subject.repo.repository.defaultBranch) throw forbidden('can not delete default branch')
  const { branchRules } = await guardOf(context, subject)
  if (findBranchRule(branchRules, name)) throw forbidden('branch protected')
  await move(context, subject, [{ ref: BRANCHES + name, old: sha, new: null }])
}

/**
 * The rule that is for this branch alone is renamed along.
 * @throws Refusal 403 for the default branch and one with a rule of its own unless the caller administrates, and where other rules
 * protect one of the names; 404, 422 when the new name is in use.
 */
export async function renameBranch(context: Context, subject: Subject, names: Rename): Promise<void> {
  const { repository, rights } = subject.repo
  requireOwnRefs(subject.repo)
  requireName(names.to, 'name')
  const { sha } = await getBranch(context, subject.repo, names.from)
  const guard = await guardOf(context, subject)
  const rule = findBranchRule(guard.branchRules, names.from)
  const hasOwnRule = rule?.ruleName === names.from
  if ((names.from === repository.defaultBranch || hasOwnRule) && rights.overall < Level.admin)
    throw forbidden('User must be a repo or site admin to rename default or protected branches.')
  if (await findBranch(context.db, repository.id, names.to))
    throw invalid('Cannot rename a branch using the same name or rename to a branch that already exists.')
  if ((rule && !hasOwnRule) || isClosedTo(guard, names.to))
    throw forbidden('Failed to rename branch due to branch protection rules.')
  const gone = { ref: BRANCHES + names.from, old: sha, new: null }
  const rename = () => move(context, subject, [gone, { ref: BRANCHES + names.to, old: null, new: sha }])
  await (hasOwnRule ? renameWithRule(context, { repositoryId: repository.id, ...names }, rename) : rename())
}

/** Whether a rule keeps the caller from making a branch of this name. */
function isClosedTo({ branchRules, mover }: Guard, name: string): boolean {
  const rule = findBranchRule(branchRules, name)
  return rule !== undefined && !mayPush(rule, mover)
}

interface Rename {
  from: string
  to: string
}

/** @throws Refusal 403 for what a rule forbids, 404, 422 when the branch is elsewhere, would lose commits, or the id names no commit; 409 on a lost race. */
export async function updateBranch(
  context: Context,
  subject: Subject,
  { name, option }: { name: string; option: UpdateBranchRepoOption },
): Promise<void> {
  const { repository } = subject.repo
  requireOwnRefs(subject.repo)
  const { sha } = await getChanged(context, subject.repo, name)
  if (option.old_commit_id && option.old_commit_id !== sha) throw invalid('The branch is at another commit.')
  const target = await context.git.findCommit(repository.id, option.new_commit_id)
  if (target === undefined) throw invalid('names no commit', 'new_commit_id')
  if (!option.force && !(await context.git.isAncestor(repository.id, sha, target)))
    throw invalid('The update is no fast-forward: with "force" it is made all the same.')
  const moves = [{ ref: BRANCHES + name, old: sha, new: target }]
  await requireAllowed(context, await guardOf(context, subject), moves)
  await move(context, subject, moves)
}

const guardOf = (context: Context, { actor, repo: { repository } }: Subject): Promise<Guard> =>
  loadGuard(context, { actor, repository })

function requireName(name: string, field: string): void {
  if (!isValidBranchName(name)) throw invalid('GitRefName', field)
}

/** Whoever lost a race is refused as such. */
async function move(context: Context, { actor, repo }: Subject, changes: RefChange[]): Promise<void> {
  try {
    await changeRefs(context, { repositoryId: repo.repository.id, pusher: pusherOf(actor.user, repo) }, changes)
  } catch (error) {
    if (!isGitError(error, 'conflict')) throw error
    throw conflict(error.code === 'ref-name-conflict' ? 'A branch with a conflicting name exists.' : EXISTS)
  }
}
