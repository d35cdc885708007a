import { eq, sql } from 'drizzle-orm'
import { prepared } from '../../db/client.ts'
import { loginFailures, signInAddresses } from '../../db/schema/credentials.ts'
import type { UserRow } from '../../db/schema/users.ts'
import type { Context } from '../context.ts'
import { type Refusal, tooManyRequests } from '../kernel/errors.ts'
import { sha256Hex } from '../kernel/hashing.ts'
import { networkOf } from '../kernel/network.ts'
import type { RequestOrigin } from './origin.ts'

/** Past the free failures each further one doubles a delay, in which tries are refused unread. */
interface Rule {
  free: number
  maxSeconds: number
}

const ACCOUNT: Rule = { free: 10, maxSeconds: 300 }
/** Many people may share an address. */
const ADDRESS: Rule = { free: 50, maxSeconds: 900 }

/** Failures older than this are forgotten. */
const FORGOTTEN_MINUTES = 30

export interface Attempt {
  /** Undefined for a name that nobody has: it is counted like an account, so that both look the same. */
  user: UserRow | undefined
  /** The name as it was given. */
  name: string
  origin: RequestOrigin
}

/** One try, counted as a failure until it is given back. */
export interface Taken {
  subject: string
  failures: number
  blockedUntil: Date | null
}

/** Where an attempt comes from, as far as it matters here. */
export interface Standing {
  /** Whether this person has signed in from the network before. */
  isKnown: boolean
}

const standing = prepared((db) =>
  db
    .select({
      blockedUntil: sql<Date | null>`(
        select ${loginFailures.blockedUntil} from ${loginFailures} where ${loginFailures.subject} = ${sql.placeholder('address')})`.mapWith(
        loginFailures.blockedUntil,
      ),
      isKnown: sql<boolean>`exists (
        select from ${signInAddresses} where ${signInAddresses.userId} = ${sql.placeholder('userId')}
          and ${signInAddresses.network} = ${sql.placeholder('network')})`,
    })
    .from(sql`(values (1)) as one`)
    .prepare('sign_in_standing'),
)

/** @throws Refusal 429 with Retry-After while the address must wait */
export async function standingOf({ db, clock }: Context, { user, origin }: Attempt): Promise<Standing> {
  if (origin.address === undefined) return { isKnown: false }
  const network = networkOf(origin.address)
  // No account has the number 0: an unknown name takes the same statements.
  const given = { address: addressSubject(network), network, userId: user?.id ?? 0 }
  const [row] = await standing(db).execute(given)
  const now = clock.now()
  if (row?.blockedUntil && row.blockedUntil > now) throw slowedDown(row.blockedUntil, now)
  return { isKnown: row?.isKnown === true }
}

/**
 * The subject that passwords for an account count against. Each network that the person signed in from before has a count of its own:
 * whatever strangers try elsewhere, the person does not wait for it there.
 */
export function passwordSubject({ user, name, origin }: Attempt, { isKnown }: Standing): string {
  if (user === undefined) return `name:${sha256Hex(name.toLowerCase()).slice(0, 32)}`
  return isKnown && origin.address !== undefined ? `user:${user.id}@${networkOf(origin.address)}` : `user:${user.id}`
}

/** Codes have a count of their own: only who knows the password adds to it. */
export const codeSubject = ({ id }: Pick<UserRow, 'id'>): string => `code:${id}`

/** What is counted in place of codes where the password was wrong, so that both cost the same. */
export const decoySubject = (subject: string): string => `decoy:${subject}`

const addressSubject = (network: string): string => `address:${network}`

/**
 * Counts a failure before the attempt is judged, in one statement that all replicas share: of attempts at the same time no more are
 * judged than are free. Undefined while the subject must wait; then nothing is counted.
 */
export function takeAttempt(context: Context, subject: string): Promise<Taken | undefined> {
  return count(context, subject, ACCOUNT)
}

async function count({ db, clock }: Context, subject: string, rule: Rule): Promise<Taken | undefined> {
  const now = clock.now().toISOString()
  const failures = sql`case when counted.last_failed_at < ${now}::timestamptz - make_interval(mins => ${FORGOTTEN_MINUTES})
    then 1 else counted.failures + 1 end`
  const [row] = await db.execute<{ failures: number; blockedUntil: Date | null }>(sql`
    insert into login_failures as counted (subject, failures, last_failed_at) values (${subject}, 1, ${now})
    on conflict (subject) do update set failures = ${failures}, last_failed_at = ${now},
      blocked_until = case when ${failures} < ${rule.free} then null
        else ${now}::timestamptz
          + make_interval(secs => least(${rule.maxSeconds}::int, power(2, least(${failures} - ${rule.free} + 1, 20)))) end
      where counted.blocked_until is null or counted.blocked_until <= ${now}::timestamptz
    returning failures, blocked_until as "blockedUntil"`)
  return row && { subject, failures: row.failures, blockedUntil: row.blockedUntil }
}

/** What was counted was no failure. A delay that began with it ends. */
export async function giveBack({ db }: Context, { subject, blockedUntil }: Taken): Promise<void> {
  await db.execute(sql`
    update login_failures set failures = failures - 1,
      blocked_until = case when blocked_until = ${blockedUntil?.toISOString() ?? null}::timestamptz then null else blocked_until end
    where subject = ${subject}`)
}

/**
 * Records that an attempt was judged and is wrong. Counts its address too, and writes to the audit trail when a slow-down begins. The
 * address is counted only now, because many of its attempts at the same time may be right. The queue of hashes limits how many are judged.
 */
export async function recordFailure(context: Context, attempt: Attempt, taken: Taken | undefined): Promise<void> {
  const { user, origin } = attempt
  if (taken?.failures === ACCOUNT.free) await report(context, taken.subject, { user }, origin)
  if (origin.address === undefined) return
  const network = networkOf(origin.address)
  const counted = await count(context, addressSubject(network), ADDRESS)
  if (counted?.failures === ADDRESS.free) await report(context, counted.subject, { network }, origin)
}

type Slowed = Parameters<Context['signIns']['slowedDown']>[0]

async function report({ log, signIns }: Context, subject: string, who: Slowed, origin: RequestOrigin): Promise<void> {
  log.warn({ subject }, 'failed sign-ins are slowed down')
  await signIns.slowedDown(who, origin)
}

/** After a success: the subject starts anew. An address never does, or an attacker's own account would clear its record. */
export async function forgetFailures({ db }: Context, subject: string): Promise<void> {
  await db.delete(loginFailures).where(eq(loginFailures.subject, subject))
}

/** After another password was set: nothing that was tried before counts. */
export async function forgetAccountFailures({ db }: Context, user: Pick<UserRow, 'id'>): Promise<void> {
  const own = `user:${user.id}`
  await db.execute(sql`
    delete from login_failures where subject in (${own}, ${codeSubject(user)}) or starts_with(subject, ${`${own}@`})`)
}

/** @returns Refusal 429 with the time to wait for this subject */
export async function refusalFor({ db, clock }: Context, subject: string): Promise<Refusal> {
  const [row] = await db.execute<{ until: Date | null }>(sql`
    select blocked_until as until from login_failures where subject = ${subject}`)
  const now = clock.now()
  return slowedDown(row?.until ?? now, now)
}

const slowedDown = (until: Date, now: Date): Refusal =>
  tooManyRequests(
    'too many failed sign-ins, try again later',
    Math.max(1, Math.ceil((until.getTime() - now.getTime()) / 1000)),
  )
