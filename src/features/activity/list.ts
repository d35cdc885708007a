import { and, asc, desc, eq, gte, lt, or, type SQL, sql } from 'drizzle-orm'
import { activities } from '../../../db/schema/activity.ts'
import { teamRepositories, teams } from '../../../db/schema/organizations.ts'
import { repositories, watches } from '../../../db/schema/repositories.ts'
import { users } from '../../../db/schema/users.ts'
import type { Unit } from '../../access/units.ts'
import { visibleTo } from '../../access/visible.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import type { Page } from '../../kernel/page.ts'
import type { ShownActivity } from '../../wire/activity.ts'
import { loadRepositoriesById } from '../repositories/load.ts'
import { loadActivityRows, loadActors, loadComments, loadIssueTitles } from './store.ts'

/** Whose feed it is. */
export type Feed =
  | { repositoryId: number }
  | { organizationId: number }
  | { teamId: number; organizationId: number }
  /** What a person did, and unless `onlyPerformed` what happened in repositories that the person owns or watches. */
  | { personId: number; onlyPerformed: boolean }

interface FeedQuery {
  feed: Feed
  /** Midnight in UTC of the one day that is asked for. */
  day?: Date
  page: Page
}

const DAY_MS = 86_400_000

/** Up to here the page is read without knowing the total first; deeper ones from the nearer end. */
const SHALLOW = 1000

/** The newest first; only what the reader may see, as it is judged now, and counted likewise. */
export async function listActivities(
  context: Context,
  actor: Actor | undefined,
  { feed, day, page }: FeedQuery,
): Promise<{ rows: ShownActivity[]; total: number }> {
  const inDay = day && and(gte(activities.createdAt, day), lt(activities.createdAt, new Date(day.getTime() + DAY_MS)))
  const wanted = and(belongsTo(feed), inDay, visibleTo(context.config, actor), visibleUnits(context, actor))
  const counted = countActivities(context, wanted)
  if (page.offset <= SHALLOW) {
    const [total, rows] = await Promise.all([
      counted,
      listIds(context, wanted, page).then((ids) => load(context, actor, ids)),
    ])
    // Counted a moment before or after: never fewer than those that are shown.
    return { total: rows.length === 0 ? total : Math.max(total, page.offset + rows.length), rows }
  }
  const total = await counted
  const limit = Math.min(page.limit, total - page.offset)
  if (limit <= 0) return { total, rows: [] }
  if (page.offset <= total / 2)
    return { total, rows: await load(context, actor, await listIds(context, wanted, { ...page, limit })) }
  const fromEnd = { offset: total - page.offset - limit, limit, isReversed: true }
  return { total, rows: await load(context, actor, (await listIds(context, wanted, fromEnd)).reverse()) }
}

function belongsTo(feed: Feed): SQL | undefined {
  if ('repositoryId' in feed) return eq(activities.repositoryId, feed.repositoryId)
  if ('teamId' in feed) return and(eq(activities.ownerId, feed.organizationId), reachedBy(feed.teamId))
  if ('organizationId' in feed) return eq(activities.ownerId, feed.organizationId)
  const performed = eq(activities.actorId, feed.personId)
  if (feed.onlyPerformed) return performed
  const watched = sql`${activities.repositoryId} in (
    select ${watches.repositoryId} from ${watches} where ${watches.userId} = ${feed.personId} and ${watches.isSubscribed})`
  return or(performed, eq(activities.ownerId, feed.personId), watched)
}

const reachedBy = (teamId: number): SQL => sql`exists (
  select 1 from ${teams} where ${teams.id} = ${teamId} and ${teams.organizationId} = ${repositories.ownerId}
    and (${teams.includesAllRepositories} or ${teams.permission} = 'owner' or exists (
      select 1 from ${teamRepositories}
      where ${teamRepositories.teamId} = ${teams.id} and ${teamRepositories.repositoryId} = ${repositories.id})))`

/** Which unit an operation belongs to, and whether the repository has it; other operations are of the repository as a whole. */
const units: readonly { unit: Unit; words: readonly string[]; isOn: SQL }[] = [
  {
    unit: 'repo.issues',
    words: ['create_issue', 'close_issue', 'reopen_issue', 'comment_issue'],
    isOn: sql`${repositories.hasIssues} and ${repositories.externalTracker} is null`,
  },
  {
    unit: 'repo.code',
    words: ['commit_repo', 'push_tag', 'delete_tag', 'delete_branch'],
    isOn: sql`${repositories.hasCode}`,
  },
  {
    unit: 'repo.pulls',
    words: ['create_pull_request', 'close_pull_request', 'reopen_pull_request', 'comment_pull', 'merge_pull_request'],
    isOn: sql`${repositories.hasPullRequests}`,
  },
]

/** A team may let somebody into a repository's code and not into its issues. */
function visibleUnits({ config }: Context, actor: Actor | undefined): SQL | undefined {
  const seesAllUnits = actor === undefined || actor.user.isAdmin
  const conditions = units.map(({ unit, words, isOn }) => {
    const list = sql.join(
      words.map((word) => sql`${word}`),
      sql`, `,
    )
    const isVisible = seesAllUnits ? isOn : sql`${isOn} and ${visibleTo(config, actor, unit)}`
    return sql`(${activities.opType} not in (${list}) or (${isVisible}))`
  })
  return and(...conditions)
}

async function countActivities({ db }: Context, wanted: SQL | undefined): Promise<number> {
  const [row] = await db
    .select({ count: sql<number>`count(*)::integer` })
    .from(activities)
    .innerJoin(repositories, eq(repositories.id, activities.repositoryId))
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .where(wanted)
  return row?.count ?? 0
}

async function listIds(
  { db }: Context,
  wanted: SQL | undefined,
  { offset, limit, isReversed = false }: { offset: number; limit: number; isReversed?: boolean },
): Promise<number[]> {
  const rows = await db
    .select({ id: activities.id })
    .from(activities)
    .innerJoin(repositories, eq(repositories.id, activities.repositoryId))
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .where(wanted)
    .orderBy(isReversed ? asc(activities.id) : desc(activities.id))
    .limit(limit)
    .offset(offset)
  return rows.map(({ id }) => id)
}

/** What the feed shows beside the records: a fixed number of statements for any page. */
async function load(context: Context, reader: Actor | undefined, ids: readonly number[]): Promise<ShownActivity[]> {
  const { db } = context
  const rows = await loadActivityRows(db, ids)
  const distinct = (values: (number | null)[]) => [...new Set(values.filter((value) => value !== null))]
  const [actors, repositoriesShown, issues, comments] = await Promise.all([
    loadActors(db, distinct(rows.map(({ actorId }) => actorId))),
    loadRepositoriesById(context, reader, distinct(rows.map(({ repositoryId }) => repositoryId))),
    loadIssueTitles(db, distinct(rows.map(({ issueId }) => issueId))),
    loadComments(db, distinct(rows.map(({ commentId }) => commentId))),
  ])
  const repositoryById = new Map(repositoriesShown.map((shown) => [shown.repository.id, shown]))
  return rows.flatMap((activity) => {
    const [actor, repository] = [actors.get(activity.actorId), repositoryById.get(activity.repositoryId)]
    // Deleted between two statements.
    if (!actor || !repository) return []
    const issue = issues.get(activity.issueId ?? 0)
    const comment = comments.get(activity.commentId ?? 0)
    return [{ activity, actor, repository, ...(issue && { issue }), ...(comment && { comment }) }]
  })
}
