import { and, eq, gte, lt, or, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { afterPosition, inOrder, type SortKey } from '../../../db/keyset.ts'
import { activities } from '../../../db/schema/activity.ts'
import { repositories, watches } from '../../../db/schema/repositories.ts'
import { users } from '../../../db/schema/users.ts'
import { reachedByTeam } from '../../access/reach.ts'
import { unitSwitch } from '../../access/unit-switch.ts'
import { isPublic, visibleTo } from '../../access/visible.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { cutPage, type Page, type Paged, type Position, rowsToRead, rowsToSkip } from '../../kernel/page.ts'
import type { ShownActivity } from '../../wire/activity.ts'
import { loadRepositoriesById } from '../repositories/load.ts'
import { hidden, hiddenFrom, isShownAmongColleagues, isShownOpenly } from './hidden.ts'
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
): Promise<Paged<ShownActivity>> {
  const scope = scopeOf(feed)
  const inDay = day && and(gte(activities.createdAt, day), lt(activities.createdAt, new Date(day.getTime() + DAY_MS)))
  const ofFeed = and(scope.activities, inDay)
  const seen = (opType: SQLWrapper) =>
    and(scope.repositories, visibleTo(context.config, actor), visibleUnits(context, actor, opType))
  const wanted: Wanted = { ofFeed, seen, joined: hiddenFrom(context.config, actor) }
  const counted = countActivities(context, wanted)
  if (rowsToSkip(page) <= SHALLOW) {
    const read = listIds(context, wanted, { offset: rowsToSkip(page), limit: rowsToRead(page), after: page.after })
    const shown = read.then((ids) => load(context, actor, ids.slice(0, page.limit)))
    const [total, ids, rows] = await Promise.all([counted, read, shown])
    return { ...cutPage(page, { rows: ids, total }, placeOf), rows }
  }
  const total = await counted
  const ids = await listDeepIds(context, wanted, { page, total })
  return { ...cutPage(page, { rows: ids, total }, placeOf), rows: await load(context, actor, ids) }
}

/** The parts of a feed's condition; the tally asks each in its own place. */
interface Wanted {
  ofFeed: SQL | undefined
  /** Whether the reader sees this kind of operation in the repository. */
  seen: (opType: SQLWrapper) => SQL | undefined
  /** Joins `hidden`. */
  joined: SQL | undefined
}

const placeOf = (id: number): Position => [String(id)]

/** From the nearer end. */
async function listDeepIds(
  context: Context,
  wanted: Wanted,
  { page: { offset, limit: most }, total }: { page: Page; total: number },
): Promise<number[]> {
  const limit = Math.min(most, total - offset)
  if (limit <= 0) return []
  if (offset <= total / 2) return listIds(context, wanted, { offset, limit })
  return (await listIds(context, wanted, { offset: total - offset - limit, limit, isReversed: true })).reverse()
}

interface Scope {
  /** As a condition over `activities`. */
  activities: SQL | undefined
  /** What is asked of the repository beside it. */
  repositories?: SQL
}

function scopeOf(feed: Feed): Scope {
  if ('repositoryId' in feed) return { activities: eq(activities.repositoryId, feed.repositoryId) }
  if ('teamId' in feed)
    return { activities: eq(activities.ownerId, feed.organizationId), repositories: ofTeam(feed.teamId) }
  if ('organizationId' in feed) return { activities: eq(activities.ownerId, feed.organizationId) }
  const performed = eq(activities.actorId, feed.personId)
  if (feed.onlyPerformed) return { activities: performed }
  const watched = sql`${activities.repositoryId} in (
    select ${watches.repositoryId} from ${watches} where ${watches.userId} = ${feed.personId} and ${watches.isSubscribed})`
  return { activities: or(performed, eq(activities.ownerId, feed.personId), watched) }
}

const ofTeam = (teamId: number): SQL => sql`${repositories.id} in (${reachedByTeam(teamId)})`

/** Which unit an operation belongs to, and whether the repository has it; other operations are of the repository as a whole. */
const units: readonly { unit: keyof typeof unitSwitch; words: readonly string[] }[] = [
  { unit: 'repo.issues', words: ['create_issue', 'close_issue', 'reopen_issue', 'comment_issue'] },
  { unit: 'repo.releases', words: ['publish_release'] },
  {
    unit: 'repo.code',
    words: [
      'commit_repo',
      'push_tag',
      'delete_tag',
      'delete_branch',
      'mirror_sync_push',
      'mirror_sync_create',
      'mirror_sync_delete',
    ],
  },
  {
    unit: 'repo.pulls',
    words: ['create_pull_request', 'close_pull_request', 'reopen_pull_request', 'comment_pull', 'merge_pull_request'],
  },
]

/** A team may let somebody into a repository's code and not into its issues. As a condition over `repositories` and their owners. */
export function visibleUnits(
  { config }: Pick<Context, 'config'>,
  actor: Actor | undefined,
  opType: SQLWrapper,
): SQL | undefined {
  const seesAllUnits = actor === undefined || actor.user.isAdmin
  const conditions = units.map(({ unit, words }) => {
    const list = sql.join(
      words.map((word) => sql`${word}`),
      sql`, `,
    )
    const isOn = unitSwitch[unit]
    const isVisible = seesAllUnits ? isOn : sql`${isOn} and ${visibleTo(config, actor, unit)}`
    return sql`(${opType} not in (${list}) or (${isVisible}))`
  })
  return and(...conditions)
}

/**
 * Judges each kind of operation in each repository once, and not every record: of 200,000 records in 2,000 repositories that took a
 * third of the time.
 */
async function countActivities({ db }: Context, wanted: Wanted): Promise<number> {
  const tally = db
    .select({
      repositoryId: activities.repositoryId,
      opType: activities.opType,
      openly: sql<number>`count(*) filter (where ${isShownOpenly})`.as('openly'),
      amongColleagues: sql<number>`count(*) filter (where ${isShownAmongColleagues})`.as('among_colleagues'),
    })
    .from(activities)
    .leftJoin(hidden, wanted.joined)
    .where(wanted.ofFeed)
    .groupBy(activities.repositoryId, activities.opType)
    .as('tally')
  const records = sql`case when ${isPublic} then ${tally.openly} else ${tally.amongColleagues} end`
  const [row] = await db
    .select({ count: sql<number>`coalesce(sum(${records}), 0)::integer` })
    .from(tally)
    .innerJoin(repositories, eq(repositories.id, tally.repositoryId))
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .where(wanted.seen(tally.opType))
  return row?.count ?? 0
}

interface Part {
  offset: number
  limit: number
  after?: Position | undefined
  isReversed?: boolean
}

async function listIds(
  { db }: Context,
  { ofFeed, seen, joined }: Wanted,
  { offset, limit, after, isReversed = false }: Part,
): Promise<number[]> {
  const isShown = sql`case when ${isPublic} then ${isShownOpenly} else ${isShownAmongColleagues} end`
  const keys: SortKey[] = [{ key: activities.id, type: 'bigint', isDescending: !isReversed }]
  const rows = await db
    .select({ id: activities.id })
    .from(activities)
    .innerJoin(repositories, eq(repositories.id, activities.repositoryId))
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .leftJoin(hidden, joined)
    .where(and(ofFeed, seen(activities.opType), isShown, afterPosition(keys, after)))
    .orderBy(inOrder(keys))
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
