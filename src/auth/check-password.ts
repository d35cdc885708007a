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

export interface PasswordAttempt extends Attempt {
  password: string
  /** The second factor, if one was sent. */
  code: string | undefined
}

/** An attempt whose password is right, and that has to show a second factor. */
interface CodeAttempt extends Attempt {
  user: UserRow
  code: string
}

/**
 * The one place where a password, and the second factor after it, is judged: for Basic credentials, forms and whatever else signs in.
 * @throws Refusal 429 while the account or the address has to wait, 503 when too many hashes wait already
 */
export async function checkPassword(context: Context, attempt: PasswordAttempt): Promise<boolean> {
  const { user, name, password, code, origin } = attempt
  if (user && context.verified.has(user, password)) {
    if (!(await hasTwoFactor(context, user.id))) return true
    if (code === undefined) return false
    await standingOf(context, attempt)
    return judgeCode(context, { user, name, origin, code })
  }
  // A code is good for one time: of two requests with the same one, each is judged.
  if (code !== undefined) return judge(context, attempt)
  const network = origin.address === undefined ? '' : networkOf(origin.address)
  const same = [user === undefined ? `name ${name}` : String(user.id), user?.passwordHash ?? '', password, network]
  return context.verified.judgeOnce(same, () => judge(context, attempt))
}

/** Password first, then the code. Each counts as a failure until it was right. */
async function judge(context: Context, attempt: PasswordAttempt): Promise<boolean> {
  const { user, name, code, origin } = attempt
  const subject = passwordSubject(attempt, await standingOf(context, attempt))
  const taken = await takeAttempt(context, subject)
  if (taken === undefined) return judgeBoth(context, attempt, subject)
  const isRight = await isRightPassword(context, attempt).catch(async (error: unknown) => {
    // It was not judged: too many hashes wait already.
    await giveBack(context, taken)
    throw error
  })
  if (!isRight || user === undefined) {
    await recordFailure(context, attempt, taken)
    return false
  }
  context.verified.add(user, attempt.password)
  if (await hasTwoFactor(context, user.id)) {
    await giveBack(context, taken)
    // Without a code nothing was guessed: a client that asks first whether it needs one is no attacker.
    if (code === undefined || !(await judgeCode(context, { user, name, origin, code }))) return false
  }
  await forgetFailures(context, subject)
  await signedIn(context, user, attempt)
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
 */
async function judgeBoth(context: Context, attempt: PasswordAttempt, subject: string): Promise<boolean> {
  const { user, code } = attempt
  if (code === undefined) throw await refusalFor(context, subject)
  const isRight = await isRightPassword(context, attempt)
  const codes = user !== undefined && isRight ? codeSubject(user) : decoySubject(subject)
  const taken = await takeAttempt(context, codes)
  // No code is like this one: with a wrong password none is right, and none is used up.
  const judged = isRight ? code : randomHex(10)
  if (user === undefined || taken === undefined || !(await isRightCode(context, user.id, judged))) {
    await recordFailure(context, attempt, taken)
    throw await refusalFor(context, subject)
  }
  // The account's own count stays: whoever is guessing goes on being slowed down.
  await forgetFailures(context, codes)
  context.verified.add(user, attempt.password)
  await signedIn(context, user, attempt)
  return true
}

async function signedIn(context: Context, user: UserRow, { origin }: Attempt): Promise<void> {
  if (!user.prohibitLogin) await context.signIns.signedIn(user, origin)
}

/** Replaces a hash with weaker parameters while the password is at hand. */
async function isRightPassword(context: Context, { user, password }: PasswordAttempt): Promise<boolean> {
  const isRight = await context.passwords.verify(user?.passwordHash, password)
  if (!user || !isRight) return false
  if (!context.passwords.isOutdated(user.passwordHash)) return true
  const passwordHash = await context.passwords.hash(password)
  await context.db
    .update(users)
    .set({ passwordHash })
    .where(and(eq(users.id, user.id), eq(users.passwordHash, user.passwordHash)))
  return true
}
