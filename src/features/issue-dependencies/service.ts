import type { Db } from '../../../db/client.ts'
import { judge, type RepositoryQuestion } from '../../access/decide.ts'
import { findIssue, unitOf } from '../../access/issues.ts'
import { findRepository } from '../../access/load.ts'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import { Level } from '../../access/units.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { chosenOnly } from '../../http/admission.ts'
import type { IssueAccess } from '../../http/issue-gate.ts'
import { withRights } from '../../http/repository-gate.ts'
import { conflict, invalid, locked, notFound } from '../../kernel/errors.ts'
import { recordHistory } from '../issues/history.ts'
import { touchIssues } from '../issues/store.ts'
import type { IssueMeta } from './schema.ts'
import {
  countLinked,
  findReached,
  insertDependency,
  type Link,
  lockDependencies,
  lockLinked,
  removeDependency,
} from './store.ts'

/** An issue waits for this many at most, and this many wait for it: each is looked at when one of them is added. */
const MAX_LINKED = 100
/** Longer chains are refused, because the whole chain is followed to find circles. */
const MAX_CHAIN = 1000

/** Two issues, of which one cannot be closed before the other. */
export interface Dependency {
  dependent: IssueAccess
  dependency: IssueAccess
}

/** @throws Refusal 404 where the repository has dependencies switched off */
export function requireDependencies({ repository }: RepositoryAccess): void {
  if (!repository.enableIssueDependencies) throw notFound()
}

/**
 * The issue that a body names, not judged yet. Wire: by the names of now only.
 * @throws Refusal 404 in the same words for what is unknown and for a repository that is hidden
 */
export async function getNamedIssue(context: Context, actor: Actor, meta: IssueMeta): Promise<IssueAccess> {
  const path = { owner: meta.owner ?? '', name: meta.repo ?? '' }
  const found = await findRepository(context.db, path, actor.user.id)
  const repo = found && !found.isMoved ? withRights(context, actor, found) : undefined
  if (!repo || repo.rights.highest < Level.read) throw notFound()
  const issue = await findIssue(context.db, repo.repository.id, String(meta.index ?? 0))
  if (!issue) throw notFound()
  return { ...issue, repo }
}

/**
 * @throws Refusal 404 when one of them is gone or hidden, 409 when it is so already, 422 for an issue that waits for itself, be it by way of
 * others, and for too many
 */
export async function addDependency(context: Context, actor: Actor, pair: Dependency): Promise<void> {
  requireRights(actor, pair)
  const link = linkOf(pair)
  const at = context.clock.now()
  await context.db.transaction(async (tx) => {
    await lockDependencies(tx)
    if (link.issueId !== link.dependencyId && !(await lockLinked(tx, link))) throw notFound()
    await requirePossible(tx, link)
    if (!(await insertDependency(tx, link, at))) throw conflict('the dependency exists already')
    await record(tx, actor, { link, kind: 'add_dependency', at })
  })
}

/** @throws Refusal 404 when one of them is gone or hidden, and when there is no such dependency */
export async function deleteDependency(context: Context, actor: Actor, pair: Dependency): Promise<void> {
  requireRights(actor, pair)
  const link = linkOf(pair)
  await context.db.transaction(async (tx) => {
    if (!(await lockLinked(tx, link)) || !(await removeDependency(tx, link))) throw notFound()
    await record(tx, actor, { link, kind: 'remove_dependency', at: context.clock.now() })
  })
}

/** Wire: whoever may write the one that waits, and see the other. */
function requireRights(actor: Actor, { dependent, dependency }: Dependency): void {
  requireDependencies(dependent.repo)
  requireVerdict(actor, dependent, { level: 'write' })
  // An archived repository may hold what others wait for.
  requireVerdict(actor, dependency, { level: 'read', evenArchived: true })
}

function requireVerdict(
  actor: Actor,
  { issue, repo }: IssueAccess,
  question: Pick<RepositoryQuestion, 'level' | 'evenArchived'>,
): void {
  switch (judge(actor, repo, { ...question, unit: unitOf(issue), isChange: true })) {
    case 'granted':
      return
    // Wire: who may only read gets 404 as well.
    case 'lacking':
    case 'hidden':
      throw notFound()
    case 'not-chosen':
      throw chosenOnly()
    case 'archived':
      throw locked(`${repo.fullName} is archived`)
  }
}

const linkOf = ({ dependent, dependency }: Dependency): Link => ({
  issueId: dependent.issue.id,
  dependencyId: dependency.issue.id,
})

async function requirePossible(tx: Db, { issueId, dependencyId }: Link): Promise<void> {
  const reached = await findReached(tx, dependencyId, MAX_CHAIN)
  if (reached.includes(issueId)) throw invalid('an issue cannot wait for itself, be it by way of others')
  if (reached.length === MAX_CHAIN) throw invalid('the chain of dependencies is too long')
  const [dependencies, blocks] = [
    await countLinked(tx, 'dependencies', issueId),
    await countLinked(tx, 'blocks', dependencyId),
  ]
  if (Math.max(dependencies, blocks) >= MAX_LINKED)
    throw invalid(`an issue waits for ${MAX_LINKED} others at most, and as many wait for it`)
}

/** The history of both issues shows it. */
async function record(
  tx: Db,
  { user }: Actor,
  { link, kind, at }: { link: Link; kind: 'add_dependency' | 'remove_dependency'; at: Date },
): Promise<void> {
  const { issueId, dependencyId } = link
  await recordHistory(tx, { issueId, posterId: user.id }, [{ kind, dependentIssueId: dependencyId }])
  await recordHistory(tx, { issueId: dependencyId, posterId: user.id }, [{ kind, dependentIssueId: issueId }])
  await touchIssues(tx, [issueId, dependencyId], at)
}
