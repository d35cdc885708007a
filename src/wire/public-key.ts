import { t } from 'elysia'
import type { PublicKeyRow } from '../../db/schema/credentials.ts'
import type { UserRow } from '../../db/schema/users.ts'
import { wireTime } from '../kernel/time.ts'
import { int64 } from './fields.ts'
import { presentUser, User } from './user.ts'
import type { Viewer } from './viewer.ts'

export type PublicKey = typeof PublicKey.static
export const PublicKey = t.Object(
  {
    id: int64(),
    key: t.String(),
    url: t.String(),
    title: t.String(),
    fingerprint: t.String(),
    created_at: t.String({ format: 'date-time' }),
    last_used_at: t.String({ format: 'date-time' }),
    user: t.Optional(User),
    read_only: t.Optional(t.Boolean()),
    key_type: t.Optional(t.String()),
  },
  { $id: 'PublicKey' },
)

/**
 * Wire: the owner and administrators also see whose key it is and of which type. A key that was never used shows the time of its
 * creation as its last use. Only a key that may not push shows `read_only`.
 */
export function presentPublicKey(row: PublicKeyRow, owner: UserRow, viewer: Viewer): PublicKey {
  const isPrivy = viewer.isAdmin || viewer.userId === owner.id
  return {
    id: row.id,
    key: row.key,
    url: `${viewer.baseUrl}/api/v1/user/keys/${row.id}`,
    title: row.title,
    fingerprint: row.fingerprint,
    created_at: wireTime(row.createdAt),
    last_used_at: wireTime(row.lastUsedAt ?? row.createdAt),
    ...(row.isReadOnly && { read_only: true }),
    ...(isPrivy ? { user: presentUser(owner, viewer), key_type: 'user' } : {}),
  }
}
