import { and, eq, gte, ilike, inArray, lte, or, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { afterPosition, inOrder, type SortKey } from '../../../db/keyset.ts'
import { escapeLike } from '../../../db/like.ts'
import { rowVersion } from '../../../db/row-version.ts'
import { comments, issueAssignees, issueLabels, issues, labels } from '../../../db/schema/issues.ts'
import { users } from '../../../db/schema/users.ts'
import { cutPage, type Page, type Paged, rowsToRead, rowsToSkip } from '../../kernel/page.ts'
import { findMilestones } from '../milestones/store.ts'
import type { VersionedIssue } from './store.ts'

export interface IssueFilter {
  /** Undefined: both. */
  isClosed?: boolean
  /** Undefined: issues and pull requests. */
  isPull?: boolean
  /** Names; an issue must carry all of them. */
  labels: readonly string[]
  /** Numbers or titles; any of them. */
  milestones: readonly string[]
  text?: string
  since?: Date
  before?: Date
  createdBy?: string
  assignedTo?: string
  mentions?: string
}

const newestFirst: SortKey[] = [{ key: issues.number, type: 'bigint', isDescending: true }]

/** Newest first. Numbers rise with creation, so the unique index on them gives the order. */
export async function listIssues(
  db: Db,
  repositoryId: number,
  filter: IssueFilter,
  page: Page,
): Promise<Paged<VersionedIssue>> {
  const matching = await condition(db, repositoryId, filter)
  const found = db
    .select({ issue: issues, version: rowVersion(issues) })
    .from(issues)
    .where(and(matching, afterPosition(newestFirst, page.after)))
    .orderBy(inOrder(newestFirst))
    .limit(rowsToRead(page))
    .offset(rowsToSkip(page))
  const [rows, total] = await Promise.all([found, db.$count(issues, matching)])
  return cutPage(page, { rows, total }, ({ issue }) => [String(issue.number)])
}

async function condition(db: Db, repositoryId: number, filter: IssueFilter): Promise<SQL | undefined> {
  return and(
    eq(issues.repositoryId, repositoryId),
    filter.isClosed === undefined ? undefined : eq(issues.isClosed, filter.isClosed),
    filter.isPull === undefined ? undefined : eq(issues.isPull, filter.isPull),
    filter.since && gte(issues.updatedAt, filter.since),
    filter.before && lte(issues.updatedAt, filter.before),
    filter.text ? containing(filter.text) : undefined,
    filter.createdBy ? eq(issues.posterId, userNamed(filter.createdBy)) : undefined,
    filter.assignedTo ? assignedTo(filter.assignedTo) : undefined,
    filter.mentions ? mentioning(filter.mentions) : undefined,
    ...filter.labels.map(labelled),
    filter.milestones.length > 0 ? await planned(db, repositoryId, filter.milestones) : undefined,
  )
}

const userNamed = (name: string): SQL =>
  sql`(select ${users.id} from ${users} where ${users.lowerName} = ${name.toLowerCase()})`

function containing(text: string): SQL | undefined {
  const pattern = `%${escapeLike(text)}%`
  const number = /^#?(\d{1,9})$/.exec(text)?.[1]
  return or(
    ilike(issues.title, pattern),
    ilike(issues.body, pattern),
    number === undefined ? undefined : eq(issues.number, Number(number)),
  )
}

const assignedTo = (name: string): SQL => sql`exists (
  select 1 from ${issueAssignees} where ${issueAssignees.issueId} = ${issues.id}
    and ${issueAssignees.userId} = ${userNamed(name)})`

function mentioning(name: string): SQL {
  const pattern = `%@${escapeLike(name)}%`
  return sql`(${issues.body} ilike ${pattern} or exists (
    select 1 from ${comments} where ${comments.issueId} = ${issues.id} and ${comments.body} ilike ${pattern}))`
}

const labelled = (name: string): SQL => sql`exists (
  select 1 from ${issueLabels} join ${labels} on ${labels.id} = ${issueLabels.labelId}
  where ${issueLabels.issueId} = ${issues.id} and ${labels.name} = ${name})`

/** Unknown milestones match nothing, rather than everything. */
async function planned(db: Db, repositoryId: number, names: readonly string[]): Promise<SQL> {
  const found = await findMilestones(db, repositoryId, names)
  return found.length === 0
    ? sql`false`
    : inArray(
        issues.milestoneId,
        found.map(({ id }) => id),
      )
}
