import { and, eq } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { afterPosition, inOrder, positionText, type SortKey } from '../../../db/keyset.ts'
import type { RepositoryRow, stars, watches } from '../../../db/schema/repositories.ts'
import { type UserRow, users } from '../../../db/schema/users.ts'
import { isBlockedInside } from '../../access/blocks.ts'
import { visibleAccounts } from '../../access/visible-accounts.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { forbidden } from '../../kernel/errors.ts'
import { cutPage, type Page, type Paged, rowsToRead, rowsToSkip } from '../../kernel/page.ts'

interface PeopleOf {
  table: typeof stars | typeof watches
  repositoryId: number
  page: Page
}

/** Accounts with a row in a table about a repository, oldest row first. Accounts that the reader may not see are left out. */
export async function listPeople(
  { db, config }: Context,
  actor: Actor | undefined,
  { table, repositoryId, page }: PeopleOf,
): Promise<Paged<UserRow>> {
  const wanted = and(
    eq(table.repositoryId, repositoryId),
    'isSubscribed' in table ? eq(table.isSubscribed, true) : undefined,
    visibleAccounts(config, actor),
  )
  const ofRepository = eq(users.id, table.userId)
  const since: SortKey = { key: table.createdAt, type: 'timestamptz' }
  const keys: SortKey[] = [since, { key: table.userId, type: 'bigint' }]
  const [rows, total] = await Promise.all([
    db
      .select({ user: users, since: positionText(since) })
      .from(table)
      .innerJoin(users, ofRepository)
      .where(and(wanted, afterPosition(keys, page.after)))
      .orderBy(inOrder(keys))
      .limit(rowsToRead(page))
      .offset(rowsToSkip(page)),
    db.$count(db.select({ id: users.id }).from(table).innerJoin(users, ofRepository).where(wanted).as('people')),
  ])
  const found = cutPage(page, { rows, total }, ({ user, since }) => [since, String(user.id)])
  return { ...found, rows: found.rows.map(({ user }) => user) }
}

/** @throws Refusal 403 */
export async function requireUnblocked(tx: Db, actor: Actor, repository: RepositoryRow): Promise<void> {
  if (await isBlockedInside(tx, { blockerId: repository.ownerId, blockedId: actor.user.id }))
    throw forbidden('the owner of the repository has blocked you')
}
