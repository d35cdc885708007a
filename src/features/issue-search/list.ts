import { and, eq, sql } from 'drizzle-orm'
import { afterPosition, inOrder } from '../../../db/keyset.ts'
import { issues } from '../../../db/schema/issues.ts'
import { repositories } from '../../../db/schema/repositories.ts'
import { users } from '../../../db/schema/users.ts'
import { visibleSubject } from '../../access/visible-subject.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { cutPage, type Page, type Paged, rowsToRead, rowsToSkip } from '../../kernel/page.ts'
import { elsewhereColumns, type IssueElsewhere } from '../issues/elsewhere.ts'
import { type IssueFilter, issueOrder, placeIn } from '../issues/list.ts'

/** One page of all issues that match and that the reader may see, with their exact number. */
export async function searchIssues(
  context: Context,
  actor: Actor | undefined,
  filter: IssueFilter,
  page: Page,
): Promise<Paged<IssueElsewhere>> {
  const order = issueOrder(filter, issues.id)
  const found = context.db
    .select({ ...elsewhereColumns, place: placeIn(order) })
    .from(issues)
    .innerJoin(repositories, eq(repositories.id, issues.repositoryId))
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .where(
      and(filter.condition, visibleSubject(context.config, actor, issues.isPull), afterPosition(order, page.after)),
    )
    .orderBy(inOrder(order))
    .limit(rowsToRead(page))
    .offset(rowsToSkip(page))
  const [rows, total] = await Promise.all([found, countIssues(context, actor, filter)])
  return cutPage(page, { rows, total }, ({ place }) => place)
}

/** Judges each repository once, and not every issue in it. */
async function countIssues(context: Context, actor: Actor | undefined, { condition }: IssueFilter): Promise<number> {
  const tally = context.db
    .select({ repositoryId: issues.repositoryId, isPull: issues.isPull, number: sql<number>`count(*)`.as('number') })
    .from(issues)
    .innerJoin(repositories, eq(repositories.id, issues.repositoryId))
    .where(condition)
    .groupBy(issues.repositoryId, issues.isPull)
    .as('tally')
  const [row] = await context.db
    .select({ total: sql<number>`coalesce(sum(${tally.number}), 0)::integer` })
    .from(tally)
    .innerJoin(repositories, eq(repositories.id, tally.repositoryId))
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .where(visibleSubject(context.config, actor, tally.isPull))
  return row?.total ?? 0
}
