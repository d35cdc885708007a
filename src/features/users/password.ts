import type { Db } from '../../../db/client.ts'
import type { UserRow } from '../../../db/schema/users.ts'
import type { AuditSource } from '../../audit/record.ts'
import type { Actor } from '../../auth/actor.ts'
import { forgetAccountFailures } from '../../auth/throttle.ts'
import type { Context } from '../../context.ts'
import { invalid } from '../../kernel/errors.ts'
import { mailLetter } from '../../mail/send.ts'
import { hashPassword } from './create.ts'
import { editUser } from './edit.ts'
import { passwordChanged } from './letters.ts'

export interface PasswordChange {
  user: UserRow
  by: AuditSource
  /** Uses up, in the same transaction, what gives the right to it. */
  claim?: (tx: Db) => Promise<void>
}

/**
 * Gives a person another password, which counts as their own choice, and notifies them by mail. Sessions end as `editUser` says.
 * @throws Refusal 400 for one that is too short or guessed first, 422 for one that is too long
 */
export async function setPassword(
  context: Context,
  { user, by, claim }: PasswordChange,
  password: string,
): Promise<void> {
  const passwordHash = await hashPassword(context, password)
  await context.db.transaction(async (tx) => {
    await claim?.(tx)
    await editUser(tx, user, { passwordHash, mustChangePassword: false }, by)
    await mailLetter(context, tx, passwordChanged({ user, by, baseUrl: context.baseUrl }))
  })
  await forgetAccountFailures(context, user)
}

/** For the person who signed in with the old one. @throws Refusal as `setPassword`, 422 for the old one again */
export async function changeOwnPassword(context: Context, actor: Actor, password: string): Promise<void> {
  if (await context.passwords.verify(actor.user.passwordHash, password)) throw invalid('is the old one', 'new_password')
  await setPassword(context, { user: actor.user, by: actor }, password)
}
