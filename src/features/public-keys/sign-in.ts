import type { PublicKeyRow } from '../../../db/schema/credentials.ts'
import type { UserRow } from '../../../db/schema/users.ts'
import type { Context } from '../../context.ts'
import { findKeyByFingerprint, updateLastUse } from './store.ts'

/** Whose key it is; nobody has shown yet that it is theirs. */
export interface KeyHolder {
  key: PublicKeyRow
  /** Undefined for a key that opens repositories and no account. */
  owner: UserRow | undefined
}

/** `last_used_at` is written at most this often, so that reading does not mean writing. */
const USE_RECORDED_EVERY_MS = 59_000

export const findKeyHolder = ({ db }: Context, fingerprint: string): Promise<KeyHolder | undefined> =>
  findKeyByFingerprint(db, fingerprint)

/** Its holder has signed with it. */
export async function recordUse({ db, clock }: Context, { id, lastUsedAt }: PublicKeyRow): Promise<void> {
  const now = clock.now()
  const since = new Date(now.getTime() - USE_RECORDED_EVERY_MS)
  if (lastUsedAt === null || lastUsedAt <= since) await updateLastUse(db, id, { now, since })
}
