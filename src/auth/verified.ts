import { createHmac, randomBytes } from 'node:crypto'
import type { UserRow } from '../../db/schema/users.ts'
import type { Clock } from '../kernel/time.ts'

const REMEMBERED_MS = 60_000
const MAX_ENTRIES = 10_000

type Account = Pick<UserRow, 'id' | 'passwordHash'>

/** Passwords that were right a moment ago, so that a client which sends one with every request does not cost a hash each time. */
export interface VerifiedPasswords {
  has(account: Account, password: string): boolean
  remember(account: Account, password: string): void
}

/**
 * Keeps a digest under a key that only this process has. The digest covers the hash from the account's row, which is read for every
 * request: a changed password is forgotten everywhere with the commit of the change, and no message between replicas can be late.
 */
export function createVerifiedPasswords(clock: Clock): VerifiedPasswords {
  const key = randomBytes(32)
  const until = new Map<string, number>()
  const digest = ({ id, passwordHash }: Account, password: string) =>
    createHmac('sha256', key).update(`${id}\0${passwordHash}\0${password}`).digest('base64')
  return {
    has(account, password) {
      if (until.size === 0 || account.passwordHash === '') return false
      const entry = digest(account, password)
      const end = until.get(entry)
      if (end === undefined) return false
      if (end > clock.now().getTime()) return true
      until.delete(entry)
      return false
    },
    remember(account, password) {
      const now = clock.now().getTime()
      // The oldest come first: a map keeps the order of insertion, and all entries live equally long.
      for (const [entry, end] of until) {
        if (end > now && until.size < MAX_ENTRIES) break
        until.delete(entry)
      }
      until.set(digest(account, password), now + REMEMBERED_MS)
    },
  }
}
