import { eq, sql } from 'drizzle-orm'
import { prepared } from '../../db/prepared.ts'
import { loginFailures } from '../../db/schema/credentials.ts'
import type { UserRow } from '../../db/schema/users.ts'
import type { Context } from '../context.ts'
import { tooManyRequests } from '../kernel/errors.ts'
import { sha256Hex } from '../kernel/hashing.ts'
import type { RequestOrigin } from './origin.ts'

/**
 * Wrong passwords and codes are counted per account and per address, in the database that all replicas share. Past the free ones each
 * failure doubles a delay in which further tries are refused unread. Tokens and sessions are never asked here, so that nobody can lock
 * somebody out of what they are signed in with.
 */
interface Rule {
  /** Failures without a delay. */
  free: number
  /** Longest delay. */
  maxSeconds: number
}

const RULES = {
  account: { free: 10, maxSeconds: 300 },
  /** Many people may share an address. */
  address: { free: 50, maxSeconds: 900 },
} as const satisfies Record<string, Rule>

/** Failures older than this are forgotten. */
const FORGOTTEN_MINUTES = 30

export interface Attempt {
  /** Undefined for a name that nobody has: it is counted like an account, so that both look the same. */
  user: UserRow | undefined
  /** The name as it was given. */
  name: string
  origin: RequestOrigin
}

function subjectsOf({ user, name, origin: { address } }: Attempt) {
  const key = user === undefined ? `name:${sha256Hex(name.toLowerCase()).slice(0, 32)}` : accountKey(user)
  const account = { key, rule: RULES.account, told: { user } }
  if (address === undefined) return [account]
  const network = networkOf(address)
  return [account, { key: `address:${network}`, rule: RULES.address, told: { network } }]
}

const failuresOf = prepared((db) =>
  db
    .select()
    .from(loginFailures)
    .where(sql`${loginFailures.subject} = any(${sql.placeholder('keys')}::text[])`)
    .prepare('login_failures_of'),
)

/**
 * @returns whether there are failures to forget when the attempt succeeds
 * @throws Refusal 429 with Retry-After while the account or the address must wait
 */
export async function requireNotThrottled({ db, clock }: Context, attempt: Attempt): Promise<boolean> {
  const keys = subjectsOf(attempt).map(({ key }) => key)
  const rows = await failuresOf(db).execute({ keys })
  const now = clock.now().getTime()
  const until = Math.max(0, ...rows.map(({ blockedUntil }) => blockedUntil?.getTime() ?? 0))
  if (until > now) throw tooManyRequests('too many failed sign-ins, try again later', Math.ceil((until - now) / 1000))
  return rows.some(({ subject }) => subject === keys[0])
}

/** Counts a failure; parallel ones all count. */
export async function recordFailure({ db, clock, log, signIns }: Context, attempt: Attempt): Promise<void> {
  const now = clock.now().toISOString()
  for (const { key, rule, told } of subjectsOf(attempt)) {
    const failures = sql`case when failed.last_failed_at < ${now}::timestamptz - make_interval(mins => ${FORGOTTEN_MINUTES})
      then 1 else failed.failures + 1 end`
    const [row] = await db.execute<{ failures: number }>(sql`
      insert into login_failures as failed (subject, failures, last_failed_at) values (${key}, 1, ${now})
      on conflict (subject) do update set failures = ${failures}, last_failed_at = ${now},
        blocked_until = case when ${failures} <= ${rule.free} then null
          else ${now}::timestamptz + make_interval(secs => least(${rule.maxSeconds}::int, power(2, least(${failures} - ${rule.free}, 20)))) end
      returning failures`)
    if (row?.failures !== rule.free + 1) continue
    log.warn({ subject: key }, 'failed sign-ins are slowed down')
    await signIns.slowedDown(told, attempt.origin)
  }
}

/** After a success: the account starts anew. The address does not, or an attacker's own account would clear its record. */
export async function forgetFailures({ db }: Context, user: Pick<UserRow, 'id'>): Promise<void> {
  await db.delete(loginFailures).where(eq(loginFailures.subject, accountKey(user)))
}

const accountKey = ({ id }: Pick<UserRow, 'id'>): string => `user:${id}`

/** One customer of a provider has a whole /64 of IPv6 addresses to come from. */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)
  if (mapped?.[1] !== undefined) return mapped[1]
  if (!address.includes(':')) return address
  const [head = '', tail] = address.split('%', 1)[0]?.toLowerCase().split('::') ?? []
  const before = head === '' ? [] : head.split(':')
  const after = tail ? tail.split(':') : []
  const zeros = tail === undefined ? [] : new Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0')
  return `${[...before, ...zeros, ...after].slice(0, 4).join(':')}::/64`
}
