import { and, eq } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { afterPosition, inOrder, positionText, type SortKey } from '../../../db/keyset.ts'
import { type RepositoryRow, stars, watches } from '../../../db/schema/repositories.ts'
import { type UserRow, users } from '../../../db/schema/users.ts'
import { isBlocked } from '../../access/blocks.ts'
import { visibleAccounts } from '../../access/visible-accounts.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { appendEvent } from '../../events/append.ts'
import { forbidden } from '../../kernel/errors.ts'
import { cutPage, type Page, type Paged, rowsToRead, rowsToSkip } from '../../kernel/page.ts'
import { subjectOf } from './subject.ts'

/** @throws Refusal 403 for somebody whom the owner has blocked */
export async function star(context: Context, actor: Actor, repository: RepositoryRow): Promise<void> {
  await requireUnblocked(context, actor, repository)
  const row = { userId: actor.user.id, repositoryId: repository.id, createdAt: context.clock.now() }
  await context.db.transaction(async (tx) => {
    const added = await tx.insert(stars).values(row).onConflictDoNothing().returning({ id: stars.repositoryId })
    if (added.length > 0) await appendEvent(tx, { ...subjectOf(repository, actor), kind: 'star.added', payload: {} })
  })
}

export async function unstar({ db }: Context, actor: Actor, repository: RepositoryRow): Promise<void> {
  await db.transaction(async (tx) => {
    const gone = await tx
      .delete(stars)
      .where(and(eq(stars.userId, actor.user.id), eq(stars.repositoryId, repository.id)))
      .returning({ id: stars.repositoryId })
    if (gone.length > 0) await appendEvent(tx, { ...subjectOf(repository, actor), kind: 'star.removed', payload: {} })
  })
}

export async function isStarred(db: Db, userId: number, repositoryId: number): Promise<boolean> {
  return (await db.$count(stars, and(eq(stars.userId, userId), eq(stars.repositoryId, repositoryId)))) > 0
}

/** Who starred a repository, first the first, as far as the reader may know of them. */
export function listStargazers(
  context: Context,
  actor: Actor | undefined,
  repositoryId: number,
  page: Page,
): Promise<Paged<UserRow>> {
  return listPeople(context, actor, { table: stars, repositoryId, page })
}

/** Who watches a repository, in the same way. */
export function listWatchers(
  context: Context,
  actor: Actor | undefined,
  repositoryId: number,
  page: Page,
): Promise<Paged<UserRow>> {
  return listPeople(context, actor, { table: watches, repositoryId, page })
}

interface PeopleOf {
  table: typeof stars | typeof watches
  repositoryId: number
  page: Page
}

async function listPeople(
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
export async function requireUnblocked({ db }: Context, actor: Actor, repository: RepositoryRow): Promise<void> {
  if (await isBlocked(db, { blockerId: repository.ownerId, blockedId: actor.user.id }))
    throw forbidden('the owner of the repository has blocked you')
}
