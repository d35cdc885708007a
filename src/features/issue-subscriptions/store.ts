import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { afterPosition, inOrder, positionText, type SortKey } from '../../../db/keyset.ts'
import { comments, issueAssignees, issueSubscriptions, issues } from '../../../db/schema/issues.ts'
import { watches } from '../../../db/schema/repositories.ts'
import { type UserRow, users } from '../../../db/schema/users.ts'
import { cutPage, type Page, type Paged, rowsToRead, rowsToSkip } from '../../kernel/page.ts'

export interface Subscription {
  issueId: number
  userId: number
}

/** Whether somebody is notified of an issue: as they asked, or else as they watch or ignore the repository, or else as they take part. */
export async function isSubscribed(db: Db, { issueId, userId }: Subscription): Promise<boolean> {
  const [row] = await db.execute<{ isNotified: boolean }>(sql`
    with asked as (
      select ${issueSubscriptions.isSubscribed} as is_notified from ${issueSubscriptions}
      where ${issueSubscriptions.issueId} = ${issueId} and ${issueSubscriptions.userId} = ${userId})
    select coalesce((select is_notified from asked),
      (select ${watches.isSubscribed} from ${watches}
        where ${watches.repositoryId} = ${issues.repositoryId} and ${watches.userId} = ${userId}),
      ${issues.posterId} is not distinct from ${userId}::bigint
      or exists (select 1 from ${issueAssignees}
        where ${issueAssignees.issueId} = ${issues.id} and ${issueAssignees.userId} = ${userId})
      or exists (select 1 from ${comments} where ${comments.issueId} = ${issues.id}
        and ${comments.posterId} = ${userId} and ${comments.kind} = 'comment')) as "isNotified"
    from ${issues} where ${issues.id} = ${issueId}`)
  return row?.isNotified ?? false
}

export async function putSubscription(
  db: Db,
  { issueId, userId }: Subscription,
  { isSubscribed, at }: { isSubscribed: boolean; at: Date },
): Promise<void> {
  await db
    .insert(issueSubscriptions)
    .values({ issueId, userId, isSubscribed, createdAt: at })
    .onConflictDoUpdate({
      target: [issueSubscriptions.issueId, issueSubscriptions.userId],
      set: { isSubscribed, createdAt: at },
    })
}

/** Who subscribed to an issue, in the order of subscribing. */
export async function listSubscribers(
  db: Db,
  { issueId, visible, page }: { issueId: number; visible: SQL; page: Page },
): Promise<Paged<UserRow>> {
  const mayBeNotified = sql`(${users.isActive} and not ${users.prohibitLogin})`
  const wanted = and(
    eq(issueSubscriptions.issueId, issueId),
    eq(issueSubscriptions.isSubscribed, true),
    mayBeNotified,
    visible,
  )
  const since: SortKey = { key: issueSubscriptions.createdAt, type: 'timestamptz' }
  const keys: SortKey[] = [since, { key: issueSubscriptions.userId, type: 'bigint' }]
  const people = eq(users.id, issueSubscriptions.userId)
  const [rows, total] = await Promise.all([
    db
      .select({ user: users, since: positionText(since) })
      .from(issueSubscriptions)
      .innerJoin(users, people)
      .where(and(wanted, afterPosition(keys, page.after)))
      .orderBy(inOrder(keys))
      .limit(rowsToRead(page))
      .offset(rowsToSkip(page)),
    db.$count(db.select({ id: users.id }).from(issueSubscriptions).innerJoin(users, people).where(wanted).as('people')),
  ])
  const found = cutPage(page, { rows, total }, ({ user, since }) => [since, String(user.id)])
  return { ...found, rows: found.rows.map(({ user }) => user) }
}
