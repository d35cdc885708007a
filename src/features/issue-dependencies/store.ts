import { and, desc, eq, sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { DEPENDENCIES_LOCK } from '../../../db/locks.ts'
import { issueDependencies } from '../../../db/schema/issue-dependencies.ts'
import { type IssueRow, issues } from '../../../db/schema/issues.ts'
import { repositories } from '../../../db/schema/repositories.ts'
import { users } from '../../../db/schema/users.ts'
import { visibleSubject } from '../../access/visible-subject.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { numberedPage, type Page, type Paged } from '../../kernel/page.ts'
import { elsewhereColumns, type IssueElsewhere } from '../issues/elsewhere.ts'
import { lockIssues } from '../issues/store.ts'

/** What an issue waits for, or what waits for it. */
export type Side = 'dependencies' | 'blocks'

const columnsOf = {
  dependencies: { own: issueDependencies.issueId, other: issueDependencies.dependencyId },
  blocks: { own: issueDependencies.dependencyId, other: issueDependencies.issueId },
} as const

/** As far as the reader may see them: those of the same repository first, then the newest. */
export async function listLinked(
  { db, config }: Context,
  actor: Actor | undefined,
  { issue, side, page }: { issue: IssueRow; side: Side; page: Page },
): Promise<Paged<IssueElsewhere>> {
  const { own, other } = columnsOf[side]
  const wanted = and(eq(own, issue.id), visibleSubject(config, actor, issues.isPull))
  const found = db
    .select(elsewhereColumns)
    .from(issueDependencies)
    .innerJoin(issues, eq(issues.id, other))
    .innerJoin(repositories, eq(repositories.id, issues.repositoryId))
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .where(wanted)
  const isOwn = sql`${issues.repositoryId} = ${issue.repositoryId}`
  const [rows, total] = await Promise.all([
    found.orderBy(desc(isOwn), desc(issues.id)).limit(page.limit).offset(page.offset),
    db.$count(
      db
        .select({ id: issues.id })
        .from(issueDependencies)
        .innerJoin(issues, eq(issues.id, other))
        .innerJoin(repositories, eq(repositories.id, issues.repositoryId))
        .innerJoin(users, eq(users.id, repositories.ownerId))
        .where(wanted)
        .as('linked'),
    ),
  ])
  return numberedPage(page, { rows, total })
}

/** The other one of two issues. */
export interface Link {
  issueId: number
  dependencyId: number
}

/**
 * Lets one dependency after the other be added until the transaction ends: which circle a new one would close depends on all others, and
 * each of two at once would miss the other's. Taken before any row is locked.
 */
export async function lockDependencies(tx: Db): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(${DEPENDENCIES_LOCK})`)
}

/** Locks both. False when one of them is gone. */
export async function lockLinked(tx: Db, { issueId, dependencyId }: Link): Promise<boolean> {
  return (await lockIssues(tx, [issueId, dependencyId])).length === 2
}

/** The issues that have to be closed before this one, whatever lies between, at most `limit` of them. */
export async function findReached(tx: Db, issueId: number, limit: number): Promise<number[]> {
  const rows = await tx.execute<{ id: number }>(sql`
    with recursive reached (id) as (
      select ${issueId}::bigint
      union
      select further.dependency_id from reached join ${issueDependencies} as further on further.issue_id = reached.id)
    select id from reached limit ${limit}`)
  return rows.map(({ id }) => Number(id))
}

export const countLinked = (tx: Db, side: Side, issueId: number): Promise<number> =>
  tx.$count(issueDependencies, eq(columnsOf[side].own, issueId))

/** False where it is so already. */
export async function insertDependency(tx: Db, link: Link, at: Date): Promise<boolean> {
  const made = await tx
    .insert(issueDependencies)
    .values({ ...link, createdAt: at })
    .onConflictDoNothing()
    .returning({ id: issueDependencies.issueId })
  return made.length > 0
}

/** False when somebody else was quicker. */
export async function removeDependency(tx: Db, { issueId, dependencyId }: Link): Promise<boolean> {
  const gone = await tx
    .delete(issueDependencies)
    .where(and(eq(issueDependencies.issueId, issueId), eq(issueDependencies.dependencyId, dependencyId)))
    .returning({ id: issueDependencies.issueId })
  return gone.length > 0
}

/** Whether an issue waits for one that is still open. */
export async function hasOpenDependency(tx: Db, issueId: number): Promise<boolean> {
  const [row] = await tx
    .select({ id: issues.id })
    .from(issueDependencies)
    .innerJoin(issues, eq(issues.id, issueDependencies.dependencyId))
    .where(and(eq(issueDependencies.issueId, issueId), eq(issues.isClosed, false)))
    .limit(1)
  return row !== undefined
}
