import { and, asc, desc, eq, sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { type CommitStatusRow, commitStatuses, type StatusState } from '../../../db/schema/statuses.ts'
import { users } from '../../../db/schema/users.ts'
import { numberedPage, type Page, type Paged } from '../../kernel/page.ts'
import type { ShownStatus } from '../../wire/commit-status.ts'

export interface Place {
  repositoryId: number
  sha: string
}

const on = ({ repositoryId, sha }: Place) =>
  and(eq(commitStatuses.repositoryId, repositoryId), eq(commitStatuses.sha, sha))

export async function listStatuses(
  db: Db,
  place: Place,
  { state, isOldestFirst, page }: { state: StatusState | undefined; isOldestFirst: boolean; page: Page },
): Promise<Paged<ShownStatus>> {
  const wanted = and(on(place), state === undefined ? undefined : eq(commitStatuses.state, state))
  const rows = db
    .select({ status: commitStatuses, creator: users })
    .from(commitStatuses)
    .leftJoin(users, eq(users.id, commitStatuses.creatorId))
    .where(wanted)
    .orderBy(isOldestFirst ? asc(commitStatuses.id) : desc(commitStatuses.id))
    .limit(page.limit)
    .offset(page.offset)
  const [found, total] = await Promise.all([rows, db.$count(commitStatuses, wanted)])
  return numberedPage(page, { rows: found.map(shown), total })
}

export interface LatestStatuses extends Paged<ShownStatus> {
  /** Those that any of them has. */
  states: StatusState[]
}

/** The newest of each context: the states that they have, their number, and one page of them, the newest first. */
export async function loadLatest(db: Db, place: Place, page: Page): Promise<LatestStatuses> {
  const latest = db
    .selectDistinctOn([commitStatuses.context], { id: commitStatuses.id, state: commitStatuses.state })
    .from(commitStatuses)
    .where(on(place))
    .orderBy(commitStatuses.context, desc(commitStatuses.id))
    .as('latest')
  const [all, found] = await Promise.all([
    db.select({ state: latest.state, number: sql<number>`count(*)::int` }).from(latest).groupBy(latest.state),
    db
      .select({ status: commitStatuses, creator: users })
      .from(latest)
      .innerJoin(commitStatuses, eq(commitStatuses.id, latest.id))
      .leftJoin(users, eq(users.id, commitStatuses.creatorId))
      .orderBy(desc(commitStatuses.id))
      .limit(page.limit)
      .offset(page.offset),
  ])
  const total = all.reduce((sum, { number }) => sum + number, 0)
  return { states: all.map(({ state }) => state), ...numberedPage(page, { rows: found.map(shown), total }) }
}

const shown = ({ creator, ...row }: { status: CommitStatusRow; creator: ShownStatus['creator'] | null }) => ({
  ...row,
  creator: creator ?? undefined,
})

export async function insertStatus(tx: Db, status: typeof commitStatuses.$inferInsert): Promise<CommitStatusRow> {
  const [row] = await tx.insert(commitStatuses).values(status).returning()
  if (!row) throw new Error('insert returned no row')
  return row
}

export const countStatuses = (db: Db, place: Place, context: string): Promise<number> =>
  db.$count(commitStatuses, and(on(place), eq(commitStatuses.context, context)))
