import type { RegistrationRow } from '../../../db/schema/account-links.ts'
import type { UserRow } from '../../../db/schema/users.ts'
import { isServiceAddress } from '../../access/service-addresses.ts'
import { networkOfOrigin, type RequestOrigin } from '../../auth/origin.ts'
import type { Context } from '../../context.ts'
import { spend } from '../../http/rate-limit.ts'
import { isEmailAddress } from '../../kernel/email.ts'
import { conflict, forbidden, invalid } from '../../kernel/errors.ts'
import { hashOfLinkCode, makeLinkCode } from '../../mail/link-code.ts'
import { mailLetter } from '../../mail/send.ts'
import { countMailTo } from '../emails/confirm.ts'
import { createUser, hashPassword, requireOwnerName } from '../users/create.ts'
import { registrationAsked, registrationOfHolder } from './letters.ts'
import { findHolder, findRegistration, insertRegistration, isNameTaken, removeRegistration } from './store.ts'

/** Path of the page that a link leads to. Wire: Gitea's. */
export const ACTIVATION_PATH = '/user/activate'

/** From one network: a class may sign up together, a script may not go on. */
const FROM_NETWORK = { requests: 30, seconds: 3600 }
/** Passwords that may be tried with one link. */
const WITH_LINK = { requests: 10, seconds: 3600 }

export interface NewPerson {
  name: string
  email: string
  password: string
}

/**
 * Makes an account for somebody who asks for one. With CONFIRM_EMAILS it is made when a mailed link was followed; the answer is then the
 * same whether the address has an account already, and only its reader learns of that.
 * @returns the account; undefined where a link was mailed
 * @throws Refusal 403 where nobody may register, 422 or 400 for what cannot be taken, 429 for too many from one network or to one address
 */
export async function register(
  context: Context,
  person: NewPerson,
  origin: RequestOrigin,
): Promise<UserRow | undefined> {
  if (!context.config.allowRegistration) throw forbidden('accounts are made by the administrators here')
  await spend(context, `sign-up:${networkOfOrigin(origin)}`, FROM_NETWORK)
  if (!context.config.confirmEmails) return createUser(context, { ...person, by: 'system', isEmailProven: false })
  await mailActivation(context, person)
  return undefined
}

async function mailActivation(context: Context, { name, email, password }: NewPerson): Promise<void> {
  const { db, clock, config, baseUrl } = context
  requireOwnerName(name, 'username')
  if (!isEmailAddress(email)) throw invalid('Email', 'email')
  if (isServiceAddress(email, config)) throw invalid('belongs to the service', 'email')
  if (await isNameTaken(db, name)) throw invalid(`user already exists [name: ${name}]`, 'username')
  const passwordHash = await hashPassword(context, password)
  await countMailTo(context, email)
  const { code, codeHash, expiresAt } = makeLinkCode(clock.now(), config.emailConfirmationHours)
  await db.transaction(async (tx) => {
    await insertRegistration(tx, { name, email, passwordHash, codeHash, expiresAt })
    const holder = await findHolder(tx, email)
    const asked = { name, email, baseUrl, hours: config.emailConfirmationHours }
    const link = `${baseUrl}${ACTIVATION_PATH}?code=${code}`
    await mailLetter(
      context,
      tx,
      holder === undefined ? registrationAsked({ ...asked, link }) : registrationOfHolder({ ...asked, holder }),
    )
  })
}

/** What a link is for; undefined when it is none, was used or is too old. */
export async function findAsked(
  { db, clock }: Context,
  code: string | undefined,
): Promise<RegistrationRow | undefined> {
  const codeHash = hashOfLinkCode(code)
  return codeHash === undefined ? undefined : findRegistration(db, codeHash, clock.now())
}

/**
 * Makes the account that was asked for. The password is asked for again: who reads the mail may not be who asked, and shall not
 * confirm an account that somebody else knows the password of.
 * @throws Refusal 422 for another password, and for a name or an address that was taken meanwhile, 409 when the link was used at
 * the same time, 429 for too many passwords
 */
export async function activate(context: Context, asked: RegistrationRow, password: string): Promise<UserRow> {
  await spend(context, `activate:${asked.id}`, WITH_LINK)
  const { name, email, passwordHash } = asked
  if (!(await context.passwords.verify(passwordHash, password)))
    throw invalid('is not the one that was chosen', 'password')
  return context.db.transaction(async (tx) => {
    if (!(await removeRegistration(tx, asked.id))) throw conflict('the link was used already')
    return createUser(context, { name, email, password: { hash: passwordHash }, by: 'system' }, tx)
  })
}
