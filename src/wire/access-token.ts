import { t } from 'elysia'
import type { AccessTokenRow } from '../../db/schema/credentials.ts'
import { wireTime, wireTimeOr, ZERO_TIME } from '../kernel/time.ts'
import { int64 } from './fields.ts'

/** A repository that a token is limited to. */
export interface TokenRepository {
  id: number
  name: string
  owner: string
}

export type AccessToken = typeof AccessToken.static
export const AccessToken = t.Object(
  {
    id: int64(),
    name: t.String(),
    sha1: t.String({ description: 'The secret, in the answer of the creation only.' }),
    token_last_eight: t.String(),
    scopes: t.Array(t.String()),
    created_at: t.String({ format: 'date-time' }),
    last_used_at: t.String({ format: 'date-time' }),
    expires_at: t.Nullable(t.String({ format: 'date-time' })),
    repositories: t.Nullable(
      t.Array(t.Object({ id: int64(), name: t.String(), owner: t.String(), full_name: t.String() }), {
        description: 'The only repositories that the token reaches; null when it is not limited.',
      }),
    ),
  },
  { $id: 'AccessToken' },
)

export function presentAccessToken(token: AccessTokenRow, repositories: readonly TokenRepository[]): AccessToken {
  return {
    id: token.id,
    name: token.name,
    sha1: '',
    token_last_eight: token.lastEight,
    scopes: token.scopes,
    created_at: wireTime(token.createdAt),
    last_used_at: wireTimeOr(token.lastUsedAt, ZERO_TIME),
    expires_at: token.expiresAt ? wireTime(token.expiresAt) : null,
    repositories: token.isLimitedToRepositories
      ? repositories.map(({ id, name, owner }) => ({ id, name, owner, full_name: `${owner}/${name}` }))
      : null,
  }
}

/** Wire: the answer of the creation carries the secret, and zero for both times. */
export const presentNewAccessToken = (
  token: AccessTokenRow,
  { secret, repositories }: { secret: string; repositories: readonly TokenRepository[] },
): AccessToken => ({
  ...presentAccessToken(token, repositories),
  sha1: secret,
  created_at: ZERO_TIME,
  last_used_at: ZERO_TIME,
})
