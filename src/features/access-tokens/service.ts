import type { AccessTokenRow } from '../../../db/schema/credentials.ts'
import type { UserRow } from '../../../db/schema/users.ts'
import { violatedConstraint } from '../../../db/violations.ts'
import { decideRights } from '../../access/decide.ts'
import { findRepository } from '../../access/load.ts'
import { requireOwnedQuota } from '../../access/quota.ts'
import { Level } from '../../access/units.ts'
import { type AuditSource, recordAudit } from '../../audit/record.ts'
import { normaliseScopes, unknownScope } from '../../auth/scopes.ts'
import type { Context } from '../../context.ts'
import { badRequest, invalid, notFound } from '../../kernel/errors.ts'
import { randomHex, sha256Hex } from '../../kernel/hashing.ts'
import { parseId } from '../../kernel/ids.ts'
import { givenTime } from '../../kernel/time.ts'
import type { TokenRepository } from '../../wire/access-token.ts'
import type { CreateAccessTokenOption } from './schema.ts'
import { countTokens, insertToken, removeToken } from './store.ts'

const DAY_MS = 86_400_000

export interface NewToken {
  row: AccessTokenRow
  /** Shown once. Only its hash is stored. */
  secret: string
  repositories: TokenRepository[]
}

/**
 * @param owner the person whom the token is for
 * @throws Refusal 400 for an unknown scope or a name in use, 404 for an organization and for a repository that the owner cannot see, 422 for a time
 * that is past or later than the site allows
 */
export async function createToken(
  context: Context,
  owner: UserRow,
  { by = 'command line', ...option }: CreateAccessTokenOption & { by?: AuditSource },
): Promise<NewToken> {
  // Nobody signs in as an organization.
  if (owner.kind !== 'user') throw notFound()
  const unknown = unknownScope(option.scopes ?? [])
  if (unknown !== undefined)
    throw badRequest(`invalid access token scope provided: invalid access token scope: ${unknown}`)
  const expiresAt = readExpiry(context, option.expires_at)
  const repositories = await findTargets(context, owner, option.repositories ?? [])
  const secret = randomHex(20)
  const token = {
    userId: owner.id,
    name: option.name,
    tokenHash: sha256Hex(secret),
    lastEight: secret.slice(-8),
    scopes: normaliseScopes(option.scopes ?? []),
    isLimitedToRepositories: repositories.length > 0,
    expiresAt,
  }
  const ids = repositories.map(({ id }) => id)
  try {
    const row = await context.db.transaction(async (tx) => {
      const made = await insertToken(tx, token, ids)
      await requireOwnedQuota(tx, context.config, {
        items: 'tokens',
        of: `account ${owner.id}`,
        count: () => countTokens(tx, owner.id),
      })
      const { scopes } = made
      const after = { scopes, expiresAt, repositories: repositories.map(({ id }) => id), owner: owner.name }
      await recordAudit(tx, by, { action: 'access_token.create', subject: subjectOf(made), after })
      return made
    })
    return { row, secret, repositories }
  } catch (error) {
    if (violatedConstraint(error) !== 'access_tokens_user_name_key') throw error
    throw badRequest('access token name has been used already')
  }
}

/** @throws Refusal 404 when this person has no such token */
export async function deleteToken(
  { db }: Context,
  { owner, by }: { owner: UserRow; by: AuditSource },
  idOrName: string,
): Promise<void> {
  const id = parseId(idOrName)
  await db.transaction(async (tx) => {
    const gone =
      (id === undefined ? undefined : await removeToken(tx, owner.id, { id })) ??
      (await removeToken(tx, owner.id, { name: idOrName }))
    if (!gone) throw notFound()
    const before = { scopes: gone.scopes, expiresAt: gone.expiresAt, owner: owner.name }
    await recordAudit(tx, by, { action: 'access_token.delete', subject: subjectOf(gone), before })
  })
}

const subjectOf = ({ id, name }: AccessTokenRow) => ({ kind: 'access_token', id, name })

/** Where the site limits the life of tokens, one without an end gets the longest that is allowed. */
function readExpiry({ clock, config }: Context, text: string | undefined): Date | null {
  const now = clock.now().getTime()
  const latest = config.tokenMaxDays === 0 ? null : new Date(now + config.tokenMaxDays * DAY_MS)
  const at = givenTime(text)
  if (at === undefined && text !== undefined) throw invalid('is no time', 'expires_at')
  if (!at) return latest
  if (at.getTime() <= now) throw invalid('is in the past', 'expires_at')
  if (latest && at > latest) throw invalid(`is later than ${config.tokenMaxDays} days from now`, 'expires_at')
  return at
}

async function findTargets(
  { db, config }: Context,
  owner: UserRow,
  targets: readonly { owner: string; name: string }[],
): Promise<TokenRepository[]> {
  const found = await Promise.all(targets.map((path) => findRepository(db, path, owner.id)))
  return found.map((loaded, index) => {
    const actor = { user: owner, method: 'password', publicOnly: false } as const
    const path = `${targets[index]?.owner}/${targets[index]?.name}`
    if (!loaded || loaded.isMoved || decideRights(config, actor, loaded).highest < Level.read)
      throw notFound(`repository does not exist [name: ${path}]`)
    return { id: loaded.repository.id, name: loaded.repository.name, owner: loaded.owner.name }
  })
}
