import { createHmac, randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { UserRow } from '../../db/schema/users.ts'
import type { Clock } from '../kernel/time.ts'

const CACHED_MS = 60_000
const MAX_ENTRIES = 10_000

/** `code needed`: the password is right, and the account has a second factor. `user` has the hash that the password has now. */
export type PasswordVerdict = { outcome: 'right' | 'code needed'; user: UserRow } | { outcome: 'wrong' }

type Account = Pick<UserRow, 'id' | 'passwordHash'>

/**
 * Passwords that were right a moment ago. Some clients send one with every request; a hash for each would cost 40 times what the rest
 * of such a request does (measured: 20 s of CPU per 1,000 instead of 0.5 s).
 */
export interface VerifiedPasswords {
  has(account: Account, password: string): boolean
  add(account: Account, password: string): void
  /** Runs `judge`, or waits for the same attempt that is being judged already and shares its verdict. */
  judgeOnce(attempt: readonly string[], judge: () => Promise<PasswordVerdict>): Promise<PasswordVerdict>
}

/**
 * Holds a digest under a key that only this process has. The digest covers the hash from the account's row, which is read for every
 * request: a changed password is wrong everywhere with the commit of the change, and no message between replicas can be late.
 */
export function createVerifiedPasswords(clock: Clock): VerifiedPasswords {
  const key = randomBytes(32)
  const digest = (parts: readonly string[]) => createHmac('sha256', key).update(JSON.stringify(parts)).digest('base64')
  const ofAccount = ({ id, passwordHash }: Account, password: string) => digest([String(id), passwordHash, password])
  const verified = new LRUCache<string, true>({
    max: MAX_ENTRIES,
    ttl: CACHED_MS,
    ttlResolution: 0,
    perf: { now: () => clock.now().getTime() },
  })
  const inFlight = new Map<string, Promise<PasswordVerdict>>()
  return {
    has: (account, password) =>
      verified.size > 0 && account.passwordHash !== '' && verified.has(ofAccount(account, password)),
    add(account, password) {
      verified.set(ofAccount(account, password), true)
    },
    async judgeOnce(attempt, judge) {
      const entry = digest(attempt)
      const running = inFlight.get(entry)
      if (running) return running
      const verdict = judge().finally(() => inFlight.delete(entry))
      inFlight.set(entry, verdict)
      return verdict
    },
  }
}
