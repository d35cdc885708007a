import { eq, sql } from 'drizzle-orm'
import { prepared } from '../../db/prepared.ts'
import { type AccessTokenRow, accessTokenRepositories, accessTokens } from '../../db/schema/credentials.ts'
import { users } from '../../db/schema/users.ts'
import type { Context } from '../context.ts'
import { sha256Hex } from '../kernel/hashing.ts'
import type { Actor } from './actor.ts'
import type { RecognizedToken } from './recognized.ts'

/** The form of a personal access token: what clients of the family check for. */
export const TOKEN_PATTERN = /^[0-9a-f]{40}$/

/** `last_used_at` is written at most this often, so that reading does not mean writing. */
const USE_RECORDED_EVERY_MS = 59_000

const byHash = prepared((db) =>
  db
    .select({ token: accessTokens, user: users })
    .from(accessTokens)
    .innerJoin(users, eq(users.id, accessTokens.userId))
    .where(eq(accessTokens.tokenHash, sql.placeholder('hash')))
    .prepare('access_token_by_hash'),
)

/** The actor of a personal access token; undefined when no valid token has this secret. */
export async function findTokenActor(context: Context, secret: string): Promise<Actor | undefined> {
  if (!TOKEN_PATTERN.test(secret)) return undefined
  const hash = sha256Hex(secret)
  const found = context.recognized.get(hash) ?? (await context.recognized.read(hash, () => lookUp(context, hash)))
  if (!found || isOver(found.token, context.clock.now())) return undefined
  const { token, user, repositoryIds } = found
  return {
    user,
    method: 'token',
    scopes: token.scopes,
    tokenId: token.id,
    tokenExpiresAt: token.expiresAt ?? undefined,
    repositoryIds,
    publicOnly: false,
  }
}

const isOver = ({ expiresAt }: AccessTokenRow, now: Date): boolean => expiresAt !== null && expiresAt <= now

async function lookUp(context: Context, hash: string): Promise<RecognizedToken | undefined> {
  const [found] = await byHash(context.db).execute({ hash })
  if (!found) return undefined
  const { token, user } = found
  const now = context.clock.now()
  if (!isOver(token, now) && (!token.lastUsedAt || now.getTime() - token.lastUsedAt.getTime() > USE_RECORDED_EVERY_MS))
    await context.db.update(accessTokens).set({ lastUsedAt: now }).where(eq(accessTokens.id, token.id))
  const repositoryIds = token.isLimitedToRepositories ? await listTokenRepositories(context, token.id) : undefined
  return { token, user, repositoryIds }
}

async function listTokenRepositories({ db }: Context, tokenId: number): Promise<number[]> {
  const rows = await db
    .select({ id: accessTokenRepositories.repositoryId })
    .from(accessTokenRepositories)
    .where(eq(accessTokenRepositories.tokenId, tokenId))
  return rows.map((row) => row.id)
}
