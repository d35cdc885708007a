import { and, eq, isNotNull, isNull, lt, sql } from 'drizzle-orm'
import { prepared } from '../../db/client.ts'
import { recoveryCodes, twoFactors } from '../../db/schema/credentials.ts'
import type { Context } from '../context.ts'
import { sha256Hex } from '../kernel/hashing.ts'
import { stepOfCode } from './one-time-codes.ts'

const enrolment = prepared((db) =>
  db
    .select()
    .from(twoFactors)
    .where(and(eq(twoFactors.userId, sql.placeholder('userId')), isNotNull(twoFactors.confirmedAt)))
    .prepare('two_factor_of_user'),
)

/** Whether signing in with the password of this account needs a second factor. */
export async function hasTwoFactor({ db }: Context, userId: number): Promise<boolean> {
  return (await enrolment(db).execute({ userId })).length > 0
}

/**
 * Judges the second factor of an account, and uses it up: a code of the authenticator or a recovery code, each good for one time. Of
 * several requests with the same code, on whatever surface, exactly one succeeds, since each changes a row only that is as it found it.
 * @returns false also for an account without a second factor
 */
export async function isRightCode(context: Context, userId: number, code: string): Promise<boolean> {
  const [enrolled] = await enrolment(context.db).execute({ userId })
  if (enrolled === undefined) return false
  const secret = context.secrets.open('two-factor', enrolled.secret)
  const step = stepOfCode(secret, code.trim(), context.clock.now())
  return step === undefined ? useRecoveryCode(context, userId, code) : useStep(context, userId, step)
}

/** RFC 6238, 5.2: a code is taken once, and none that is older than the last. */
async function useStep({ db }: Context, userId: number, step: number): Promise<boolean> {
  const used = await db
    .update(twoFactors)
    .set({ lastStep: step })
    .where(and(eq(twoFactors.userId, userId), lt(twoFactors.lastStep, step)))
    .returning({ userId: twoFactors.userId })
  return used.length > 0
}

/** Letters in any case, with or without the dashes that they are shown with. */
export const recoveryCodeHash = (code: string): string => sha256Hex(code.toLowerCase().replace(/[^a-z0-9]/g, ''))

async function useRecoveryCode({ db, clock }: Context, userId: number, code: string): Promise<boolean> {
  const mine = and(eq(recoveryCodes.userId, userId), eq(recoveryCodes.codeHash, recoveryCodeHash(code)))
  const used = await db
    .update(recoveryCodes)
    .set({ usedAt: clock.now() })
    .where(and(mine, isNull(recoveryCodes.usedAt)))
    .returning({ id: recoveryCodes.id })
  return used.length > 0
}
