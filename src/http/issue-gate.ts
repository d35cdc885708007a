import { judge, type RepositoryQuestion } from '../access/decide.ts'
import { findIssue, issueUnits, unitOf, type VersionedIssue } from '../access/issues.ts'
import type { RepositoryAccess } from '../access/repository-access.ts'
import type { Actor } from '../auth/actor.ts'
import type { Context } from '../context.ts'
import { forbidden, notFound } from '../kernel/errors.ts'
import { changes } from './admission.ts'
import { lacking, repositoryForChange, repositoryForReading } from './repository-gate.ts'

interface Path {
  request: Request
  owner: string
  name: string
  /** The number of an issue or a pull request, as it stands in the path. */
  index: string
}

/** What the caller must be allowed on the unit that the subject belongs to. */
export type IssueRule = Pick<RepositoryQuestion, 'level' | 'evenArchived'> & {
  /** Only pull requests have this route: an issue is not found there. */
  isPull?: true
}

/** An issue or a pull request with its repository. */
export interface IssueAccess extends VersionedIssue {
  repo: RepositoryAccess
}

/** @throws Refusal as `repositoryForReading`, 404 for an unknown number and for a kind that the caller may not read here */
export async function issueForReading(
  context: Context,
  actor: Actor | undefined,
  path: Path,
  rule: Pick<IssueRule, 'isPull'>,
): Promise<IssueAccess> {
  const repo = await repositoryForReading(context, actor, path, issueUnits)
  return judged(context, actor, { path, repo, rule: { ...rule, level: 'read' } })
}

/** @throws Refusal as `repositoryForChange`, 404 as above, 403 without the level on the unit of what it is */
export async function issueForChange(
  context: Context,
  actor: Actor,
  path: Path,
  rule: IssueRule,
): Promise<IssueAccess> {
  const { isPull: _, ...question } = rule
  const repo = await repositoryForChange(context, actor, path, { ...question, unit: issueUnits })
  return judged(context, actor, { path, repo, rule })
}

async function judged(
  { db }: Context,
  actor: Actor | undefined,
  { path, repo, rule }: { path: Path; repo: RepositoryAccess; rule: IssueRule },
): Promise<IssueAccess> {
  const { isPull, ...question } = rule
  const found = await findIssue(db, repo.repository.id, path.index)
  if (!found || (isPull && !found.issue.isPull)) throw notFound()
  const unit = unitOf(found.issue)
  const verdict = judge(actor, repo, { ...question, unit, isChange: changes(path.request.method) })
  if (verdict === 'lacking') throw forbidden(lacking[question.level])
  if (verdict !== 'granted') throw notFound()
  return { ...found, repo }
}
