import { and, eq, type SQL, sql } from 'drizzle-orm'
import { anyOf } from '../../../db/any-of.ts'
import type { Db } from '../../../db/client.ts'
import { issueAssignees, issueLabels, issues, labels } from '../../../db/schema/issues.ts'
import type { UserRow } from '../../../db/schema/users.ts'
import { type TimeRange, within } from '../../../db/time-range.ts'
import { maySeeOwner } from '../../access/decide.ts'
import { mayRead, readableKinds } from '../../access/issues.ts'
import { findAccount } from '../../access/load-account.ts'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { notFound } from '../../kernel/errors.ts'
import { findUsableLabels } from '../labels/store.ts'
import { findMilestones } from '../milestones/store.ts'
import type { IssueFilter } from './list.ts'
import { mentioning, searchText } from './text.ts'

/** What every list of issues can be asked for. */
export interface CommonQuery extends TimeRange {
  /** Undefined: both. */
  isClosed?: boolean
  /** Undefined: issues and pull requests. */
  isPull?: boolean
  text?: string
}

/** The same of one repository, in the words of the request. */
export interface IssueQuery extends CommonQuery {
  /** Names; an issue must carry all of them. Wire: unknown ones are ignored. */
  labels: readonly string[]
  /** Numbers or titles; any of them. Wire: unknown ones are ignored. */
  milestones: readonly string[]
  /** Names of people. */
  createdBy?: string
  assignedTo?: string
  mentions?: string
}

/** Wire: an unknown state means open, an unknown type both. */
export const readKinds = ({ state, type }: { state?: string; type?: string }) => ({
  isClosed: state === 'all' ? undefined : state === 'closed',
  isPull: type === 'issues' ? false : type === 'pulls' ? true : undefined,
})

/** Without what is looked for and without the kind. */
export const commonConditions = ({ isClosed, ...range }: CommonQuery): SQL | undefined =>
  and(isClosed === undefined ? undefined : eq(issues.isClosed, isClosed), within(issues.updatedAt, range))

/**
 * What a query means in one repository. Each list is one condition, whatever its length.
 * @throws Refusal 404 for a person whom the reader may not know of, and for a kind that the reader may not see
 */
export async function issueFilter(
  context: Context,
  { actor, repo }: { actor: Actor | undefined; repo: RepositoryAccess },
  query: IssueQuery,
): Promise<IssueFilter> {
  const { db } = context
  // Wire: who may not read issues has a list of pull requests only by asking for them.
  if (!mayRead(repo.rights, { isPull: query.isPull ?? false })) throw notFound()
  const person = (name: string | undefined) => (name ? getPerson(context, actor, name) : undefined)
  const [poster, assignee, mentioned] = [
    await person(query.createdBy),
    await person(query.assignedTo),
    await person(query.mentions),
  ]
  const search = query.text === undefined ? undefined : searchText(query.text, repo.repository.id)
  const condition = and(
    eq(issues.repositoryId, repo.repository.id),
    commonConditions(query),
    query.isPull === undefined ? readableKinds(repo.rights) : eq(issues.isPull, query.isPull),
    search?.condition,
    poster && eq(issues.posterId, poster.id),
    assignee && assignedTo(assignee.id),
    mentioned && mentioning(mentioned.name),
    query.labels.length > 0 ? await labelled(db, repo, query.labels) : undefined,
    query.milestones.length > 0 ? await planned(db, repo, query.milestones) : undefined,
  )
  return { condition, rank: search?.rank }
}

/** @throws Refusal 404 for a person whom the reader may not know of */
export async function getPerson({ db, config }: Context, actor: Actor | undefined, name: string): Promise<UserRow> {
  const account = await findAccount(db, name, actor?.user.id)
  if (!account || !maySeeOwner(config, actor, account.row, account.isRelated))
    throw notFound('GetUserByName', [`user redirect does not exist [name: ${name}]`])
  return account.row
}

export const assignedTo = (userId: number): SQL => sql`${issues.id} in (
  select ${issueAssignees.issueId} from ${issueAssignees} where ${issueAssignees.userId} = ${userId})`

/** Several labels may have one name: an issue needs one of each name. */
async function labelled(db: Db, { repository }: RepositoryAccess, names: readonly string[]): Promise<SQL | undefined> {
  const place = { repositoryId: repository.id, ownerId: repository.ownerId }
  const usable = await findUsableLabels(db, place, { names: [...names] })
  if (usable.length === 0) return undefined
  const ids = usable.map(({ id }) => id)
  return sql`${issues.id} in (
    select ${issueLabels.issueId} from ${issueLabels} join ${labels} on ${labels.id} = ${issueLabels.labelId}
    where ${anyOf(issueLabels.labelId, ids)} group by ${issueLabels.issueId}
    having count(distinct ${labels.name}) = ${new Set(usable.map(({ name }) => name)).size})`
}

async function planned(db: Db, { repository }: RepositoryAccess, names: readonly string[]): Promise<SQL | undefined> {
  const found = await findMilestones(db, repository.id, names)
  if (found.length === 0) return undefined
  return anyOf(
    issues.milestoneId,
    found.map(({ id }) => id),
  )
}
