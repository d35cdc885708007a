import { and, asc, desc, eq } from 'drizzle-orm'
import { anyOf } from '../../../db/any-of.ts'
import type { Db } from '../../../db/client.ts'
import { type AccessTokenRow, accessTokenRepositories, accessTokens } from '../../../db/schema/credentials.ts'
import { repositories } from '../../../db/schema/repositories.ts'
import { users } from '../../../db/schema/users.ts'
import { numberedPage, type Page, type Paged } from '../../kernel/page.ts'
import type { TokenRepository } from '../../wire/access-token.ts'

export async function insertToken(
  db: Db,
  token: typeof accessTokens.$inferInsert,
  repositoryIds: readonly number[],
): Promise<AccessTokenRow> {
  const [row] = await db.insert(accessTokens).values(token).returning()
  if (row === undefined) throw new Error('insert returned no row')
  if (repositoryIds.length > 0)
    await db
      .insert(accessTokenRepositories)
      .values(repositoryIds.map((repositoryId) => ({ tokenId: row.id, repositoryId })))
      .onConflictDoNothing()
  return row
}

export async function listTokens(db: Db, userId: number, page: Page): Promise<Paged<AccessTokenRow>> {
  const mine = eq(accessTokens.userId, userId)
  const newestFirst = db.select().from(accessTokens).where(mine).orderBy(desc(accessTokens.id))
  const [rows, total] = await Promise.all([
    newestFirst.limit(page.limit).offset(page.offset),
    db.$count(accessTokens, mine),
  ])
  return numberedPage(page, { rows, total })
}

/** The repositories that these tokens are limited to, by token. */
export async function loadTokenRepositories(
  db: Db,
  tokenIds: readonly number[],
): Promise<Map<number, TokenRepository[]>> {
  const byToken = new Map<number, TokenRepository[]>()
  if (tokenIds.length === 0) return byToken
  const rows = await db
    .select({
      tokenId: accessTokenRepositories.tokenId,
      id: repositories.id,
      name: repositories.name,
      owner: users.name,
    })
    .from(accessTokenRepositories)
    .innerJoin(repositories, eq(repositories.id, accessTokenRepositories.repositoryId))
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .where(anyOf(accessTokenRepositories.tokenId, tokenIds))
    .orderBy(asc(users.lowerName), asc(repositories.lowerName))
  for (const { tokenId, ...repository } of rows) byToken.set(tokenId, [...(byToken.get(tokenId) ?? []), repository])
  return byToken
}

/** Removes the token of this person that has the id or the name, and returns it. */
export async function removeToken(
  db: Db,
  userId: number,
  which: { id: number } | { name: string },
): Promise<AccessTokenRow | undefined> {
  const wanted = 'id' in which ? eq(accessTokens.id, which.id) : eq(accessTokens.name, which.name)
  const [row] = await db
    .delete(accessTokens)
    .where(and(eq(accessTokens.userId, userId), wanted))
    .returning()
  return row
}

export const countTokens = (db: Db, userId: number): Promise<number> =>
  db.$count(accessTokens, eq(accessTokens.userId, userId))
