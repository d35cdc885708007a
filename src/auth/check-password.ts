import { and, eq } from 'drizzle-orm'
import { type UserRow, users } from '../../db/schema/users.ts'
import type { Context } from '../context.ts'
import type { RequestOrigin } from './origin.ts'
import { type Attempt, forgetFailures, recordFailure, requireNotThrottled } from './throttle.ts'
import { passesTwoFactor } from './two-factor.ts'

export interface PasswordAttempt {
  /** Undefined when nobody has the name: it takes as long and counts as much. */
  user: UserRow | undefined
  name: string
  password: string
  /** The second factor, if one was sent. */
  code: string | undefined
  origin: RequestOrigin
}

/**
 * The one place where a password, and the second factor after it, is judged: for Basic credentials, forms and whatever else signs in.
 * @throws Refusal 429 while the account or the address has to wait, 503 when too many hashes wait already
 */
export async function checkPassword(context: Context, attempt: PasswordAttempt): Promise<boolean> {
  const { user, name, password, code, origin } = attempt
  const counted: Attempt = { user, name, origin }
  const isRemembered = user !== undefined && context.verified.has(user, password)
  // A client that was right a moment ago goes on while others guess; its codes are counted all the same.
  const hasFailures = isRemembered && code === undefined ? false : await requireNotThrottled(context, counted)
  const isRight = isRemembered || (await context.passwords.verify(user?.passwordHash, password))
  if (!user || !isRight) {
    await recordFailure(context, counted)
    return false
  }
  if (!isRemembered) await afterHash(context, user, password)
  if (!(await passesTwoFactor(context, user.id, code))) {
    // Without a code nothing was guessed: a client that asks first whether it needs one is no attacker.
    if (code !== undefined) await recordFailure(context, counted)
    return false
  }
  if (hasFailures) await forgetFailures(context, user)
  if (!isRemembered && !user.prohibitLogin) await context.signIns.signedIn(user, origin)
  return true
}

/** Hashes made with weaker parameters are made anew while the password is at hand. */
async function afterHash(context: Context, user: UserRow, password: string): Promise<void> {
  if (!context.passwords.isOutdated(user.passwordHash)) return context.verified.remember(user, password)
  const passwordHash = await context.passwords.hash(password)
  await context.db
    .update(users)
    .set({ passwordHash })
    .where(and(eq(users.id, user.id), eq(users.passwordHash, user.passwordHash)))
}
