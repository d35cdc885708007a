import { and, eq } from 'drizzle-orm'
import { type UserRow, users } from '../../db/schema/users.ts'
import type { Context } from '../context.ts'
import { randomHex } from '../kernel/hashing.ts'
import { networkOf } from '../kernel/network.ts'
import {
  type Attempt,
  codeSubject,
  decoySubject,
  forgetFailures,
  giveBack,
  passwordSubject,
  recordFailure,
  refusalFor,
  standingOf,
  takeAttempt,
} from './throttle.ts'
import { hasTwoFactor, isRightCode } from './two-factor.ts'
import type { PasswordVerdict } from './verified.ts'

export interface PasswordAttempt extends Attempt {
  password: string
  /** The second factor, if one was sent. */
  code: string | undefined
}

const WRONG: PasswordVerdict = { outcome: 'wrong' }

/** An attempt whose password is right, and that has to show a second factor. */
export interface CodeAttempt extends Attempt {
  user: UserRow
  code: string
}

/** For credentials that bring everything at once. @throws Refusal as `judgePassword` */
export const checkPassword = async (context: Context, attempt: PasswordAttempt): Promise<boolean> =>
  (await judgePassword(context, attempt)).outcome === 'right'

/**
 * The one place where a password, and the second factor after it, is judged: for Basic credentials, forms and whatever else signs in.
 * @throws Refusal 429 while the account or the address has to wait, 503 when too many hashes wait already
 */
export async function judgePassword(context: Context, attempt: PasswordAttempt): Promise<PasswordVerdict> {
  const { user, name, password, code, origin } = attempt
  if (user && context.verified.has(user, password)) {
    if (!(await hasTwoFactor(context, user.id))) return { outcome: 'right', user }
    if (code === undefined) return { outcome: 'code needed', user }
    await standingOf(context, attempt)
    return (await judgeCode(context, { user, name, origin, code })) ? { outcome: 'right', user } : WRONG
  }
  // A code is good for one time: of two requests with the same one, each is judged.
  if (code !== undefined) return judge(context, attempt)
  const network = origin.address === undefined ? '' : networkOf(origin.address)
  const same = [user === undefined ? `name ${name}` : String(user.id), user?.passwordHash ?? '', password, network]
  return context.verified.judgeOnce(same, () => judge(context, attempt))
}

/** Password first, then the code. Each counts as a failure until it was right. */
async function judge(context: Context, attempt: PasswordAttempt): Promise<PasswordVerdict> {
  const { name, code, origin } = attempt
  const subject = passwordSubject(attempt, await standingOf(context, attempt))
  const taken = await takeAttempt(context, subject)
  if (taken === undefined) return judgeBoth(context, attempt, subject)
  const proven = await provePassword(context, attempt).catch(async (error: unknown) => {
    // It was not judged: too many hashes wait already.
    await giveBack(context, taken)
    throw error
  })
  if (proven === undefined) {
    await recordFailure(context, attempt, taken)
    return WRONG
  }
  context.verified.add(proven, attempt.password)
  if (await hasTwoFactor(context, proven.id)) {
    await giveBack(context, taken)
    // Without a code nothing was guessed: a client that asks first whether it needs one is no attacker.
    if (code === undefined) return { outcome: 'code needed', user: proven }
    if (!(await judgeCode(context, { user: proven, name, origin, code }))) return WRONG
  }
  await forgetFailures(context, subject)
  await signedIn(context, proven, attempt)
  return { outcome: 'right', user: proven }
}

/**
 * The second step of a sign-in by form, whose password was right in the first.
 * @throws Refusal 429 while the address has to wait, or too many codes were wrong
 */
export async function checkCode(context: Context, attempt: CodeAttempt): Promise<boolean> {
  await standingOf(context, attempt)
  if (!(await judgeCode(context, attempt))) return false
  await signedIn(context, attempt.user, attempt)
  return true
}

/** @throws Refusal 429 while too many codes were wrong */
async function judgeCode(context: Context, attempt: CodeAttempt): Promise<boolean> {
  const { user, code } = attempt
  const subject = codeSubject(user)
  const taken = await takeAttempt(context, subject)
  if (taken === undefined) throw await refusalFor(context, subject)
  if (await isRightCode(context, user.id, code)) {
    await forgetFailures(context, subject)
    return true
  }
  await recordFailure(context, attempt, taken)
  return false
}

/**
 * While the account has to wait, password and code together pass: strangers who guess passwords lock nobody out who has a second
 * factor. Everything else is refused in the same words, after the same statements, whether the password was right or not. A password that
 * was right here is cached only with its code: cached, it would pass without waiting the next time.
 * @throws Refusal 429 unless both are right
 */
async function judgeBoth(context: Context, attempt: PasswordAttempt, subject: string): Promise<PasswordVerdict> {
  const { user, code } = attempt
  if (code === undefined) throw await refusalFor(context, subject)
  const proven = await provePassword(context, attempt)
  const codes = proven === undefined ? decoySubject(subject) : codeSubject(proven)
  const taken = await takeAttempt(context, codes)
  // No code is like this one: with a wrong password none is right, and none is used up.
  const judged = proven === undefined ? randomHex(10) : code
  const isRight = user !== undefined && taken !== undefined && (await isRightCode(context, user.id, judged))
  if (!isRight || proven === undefined) {
    await recordFailure(context, attempt, taken)
    throw await refusalFor(context, subject)
  }
  // The account's own count stays: whoever is guessing goes on being slowed down.
  await forgetFailures(context, codes)
  context.verified.add(proven, attempt.password)
  await signedIn(context, proven, attempt)
  return { outcome: 'right', user: proven }
}

async function signedIn(context: Context, user: UserRow, { origin }: Attempt): Promise<void> {
  if (!user.prohibitLogin) await context.signIns.signedIn(user, origin, 'password')
}

/** Undefined for a wrong password. Replaces a hash with weaker parameters while the password is at hand. */
async function provePassword(context: Context, { user, password }: PasswordAttempt): Promise<UserRow | undefined> {
  const isRight = await context.passwords.verify(user?.passwordHash, password)
  if (!user || !isRight) return undefined
  if (!context.passwords.isOutdated(user.passwordHash)) return user
  const passwordHash = await context.passwords.hash(password)
  const [updated] = await context.db
    .update(users)
    .set({ passwordHash })
    .where(and(eq(users.id, user.id), eq(users.passwordHash, user.passwordHash)))
    .returning()
  return updated ?? user
}
