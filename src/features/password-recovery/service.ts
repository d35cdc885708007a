import type { UserRow } from '../../../db/schema/users.ts'
import { networkOfOrigin, type RequestOrigin } from '../../auth/origin.ts'
import type { Context } from '../../context.ts'
import { spend } from '../../http/rate-limit.ts'
import { enqueueJob } from '../../jobs/enqueue.ts'
import type { JobHandlers } from '../../jobs/handlers.ts'
import { isEmailAddress } from '../../kernel/email.ts'
import { conflict, invalid, unavailable } from '../../kernel/errors.ts'
import { sha256Hex } from '../../kernel/hashing.ts'
import type { Letter } from '../../mail/letter.ts'
import { hashOfLinkCode, hoursInWords, makeLinkCode } from '../../mail/link-code.ts'
import { mailLetter } from '../../mail/send.ts'
import { countMailTo } from '../emails/confirm.ts'
import { setPassword } from '../users/password.ts'
import { findRecoverable, findResetOwner, removeReset, upsertReset } from './store.ts'

/** Path of the page that a link leads to. Wire: Gitea's. */
export const RECOVERY_PATH = '/user/recover_account'

const RECOVERY_HOURS = 3
const FROM_NETWORK = { requests: 30, seconds: 3600 }
/** An address in a job is somebody's who may have no account here. */
const PURPOSE = 'password recovery'

/**
 * Mails a link to an address, if it has an account. Whether it has is found out by a job, so that the answer and its time are the same.
 * @throws Refusal 422 for what is no address, 429 for too many, 503 where nothing is mailed
 */
export async function askForRecovery(context: Context, email: string, origin: RequestOrigin): Promise<void> {
  if (context.mailer === undefined)
    throw unavailable('this site mails nothing: ask an administrator for a new password')
  if (!isEmailAddress(email)) throw invalid('Email', 'email')
  await spend(context, `recovery:${networkOfOrigin(origin)}`, FROM_NETWORK)
  await countMailTo(context, email)
  const sealed = Buffer.from(context.secrets.seal(PURPOSE, email)).toString('base64')
  await context.db.transaction((tx) => enqueueJob(tx, 'account.recover', { sealed }))
}

export const recoveryHandlers: Pick<JobHandlers, 'account.recover'> = {
  async 'account.recover'(context, { sealed }) {
    const { db, clock, secrets, baseUrl } = context
    const found = await findRecoverable(db, secrets.open(PURPOSE, Buffer.from(sealed, 'base64')))
    if (found === undefined) return
    const { email, user, source } = found
    // As it was confirmed, however it was typed now.
    const to = { address: email.email, name: user.fullName }
    if (source && user.passwordHash === '') {
      await db.transaction((tx) =>
        mailLetter(context, tx, signsInElsewhere({ to, name: user.name, source: source.label, baseUrl })),
      )
      return
    }
    const { code, codeHash, expiresAt } = makeLinkCode(clock.now(), RECOVERY_HOURS)
    await db.transaction(async (tx) => {
      await upsertReset(tx, { emailId: email.id, codeHash, expiresAt })
      await mailLetter(context, tx, {
        to,
        subject: 'Choose another password',
        paragraphs: [
          `somebody, most likely you, has forgotten the password of your account ${user.name} at ${baseUrl}. Choose another one here:`,
          { link: `${baseUrl}${RECOVERY_PATH}?code=${code}` },
          `The link works once, and for ${hoursInWords(RECOVERY_HOURS)}.`,
          'If it was not you, do nothing: the password stays as it is.',
        ],
      })
    })
  },
}

interface Elsewhere {
  to: Letter['to']
  name: string
  source: string
  baseUrl: string
}

const signsInElsewhere = ({ to, name, source, baseUrl }: Elsewhere): Letter => ({
  to,
  subject: 'How you sign in',
  paragraphs: [
    `somebody, most likely you, has forgotten the password of your account ${name} at ${baseUrl}. It has none: you sign in with ${source}. You find it on this page:`,
    { link: `${baseUrl}/user/login` },
    'Signed in, you can choose a password in your settings.',
    'If it was not you, do nothing.',
  ],
})

/** Whose link it is; undefined when it is none, was used, is too old, or the account may not sign in. */
export async function findRecovery({ db, clock }: Context, code: string | undefined): Promise<UserRow | undefined> {
  const codeHash = hashOfLinkCode(code)
  return codeHash === undefined ? undefined : findResetOwner(db, codeHash, clock.now())
}

/**
 * Sets another password by a link, once. Every session ends; the second factor stays.
 * @throws Refusal as `setPassword`, 409 when the link was used at the same time
 */
export async function recover(
  context: Context,
  { user, code, origin }: { user: UserRow; code: string; origin: RequestOrigin },
  password: string,
): Promise<void> {
  const by = { user, method: 'link', publicOnly: false, origin } as const
  const claim = async (tx: Context['db']) => {
    if (!(await removeReset(tx, sha256Hex(code)))) throw conflict('the link was used already')
  }
  await setPassword(context, { user, by, claim }, password)
}
