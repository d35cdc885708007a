import type { Db } from '../../../db/client.ts'
import { emails, type NewUser, type UserRow, users } from '../../../db/schema/users.ts'
import { violatedConstraint } from '../../../db/violations.ts'
import { isServiceAddress } from '../../access/service-addresses.ts'
import { type AuditSource, recordAudit } from '../../audit/record.ts'
import { passwordProblem } from '../../auth/password-rules.ts'
import type { Context } from '../../context.ts'
import { appendEvent } from '../../events/append.ts'
import { isEmailAddress } from '../../kernel/email.ts'
import { badRequest, invalid } from '../../kernel/errors.ts'
import { ownerNameProblem } from '../../kernel/names.ts'
import { mailLetter } from '../../mail/send.ts'
import { claimName } from './claim-name.ts'
import { placeAt } from './external-identity.ts'
import { accountCreated } from './letters.ts'

/** A person to be. What is left out is the site's default. */
export interface NewAccount
  extends Partial<
    Pick<
      NewUser,
      | 'fullName'
      | 'loginName'
      | 'sourceId'
      | 'isAdmin'
      | 'isRestricted'
      | 'mustChangePassword'
      | 'visibility'
      | 'createdAt'
    >
  > {
  name: string
  email: string
  /** The hash where it was made already. */
  password: string | { hash: string }
  /** Who makes the account; the command line where nobody is named. */
  by?: AuditSource
  /** Whether the person gets a mail about it. */
  isNotified?: boolean
  /** False where the person gave the address, and nobody asked whether it is theirs. */
  isEmailProven?: boolean
}

/**
 * Makes a person with the primary address, which counts as verified.
 * @param tx a transaction of the caller; without one the account is made in its own
 * @throws Refusal 422 for a name or an address that is taken or cannot be taken, 400 for a password that is too short
 */
export async function createUser(context: Context, account: NewAccount, tx: Db = context.db): Promise<UserRow> {
  requireOwnerName(account.name, 'username')
  if (!isEmailAddress(account.email)) throw invalid('Email', 'email')
  if (isServiceAddress(account.email, context.config))
    throw invalid(`e-mail address belongs to the service [email: ${account.email}]`)
  const { password: given } = account
  const passwordHash = typeof given === 'string' ? await hashNewPassword(context, given) : given.hash
  const { password: _, by = 'command line', isNotified = false, isEmailProven = true, ...row } = account
  try {
    return await tx.transaction(async (inner) => {
      const user = await insertUser(inner, { ...row, passwordHash }, { by, isEmailProven })
      await claimName(inner, context, user)
      if (user.sourceId !== null) await placeAt(inner, user, { sourceId: user.sourceId, subject: user.loginName })
      if (isNotified) await mailLetter(context, inner, accountCreated(user, context.baseUrl))
      return user
    })
  } catch (error) {
    throw takenRefusal(error, account)
  }
}

/** @throws Refusal 422 when the name cannot be one of a person or an organization */
export function requireOwnerName(name: string, field: string): void {
  switch (ownerNameProblem(name)) {
    case 'empty':
      throw invalid('Required', field)
    case 'too long':
      throw invalid('MaxSize', field)
    case 'characters':
      throw invalid('invalid username', field)
    case 'reserved':
      throw invalid(`name is reserved [name: ${name}]`)
    case 'pattern':
      throw invalid(`name pattern is not allowed [pattern: *${name.slice(name.lastIndexOf('.'))}]`)
    case undefined:
      return
  }
}

/** @throws Refusal 400 for a password that is too short, 422 for one that is too long */
async function hashNewPassword(context: Context, password: string): Promise<string> {
  const problem = passwordProblem(context.config, password)
  // Wire: 400 and this word, also for a password that was left out.
  if (problem === 'too short') throw badRequest('PasswordIsRequired')
  return hashPassword(context, password)
}

/** As `hashNewPassword`, with a sentence of what is wrong. */
export async function hashPassword(context: Context, password: string): Promise<string> {
  const problem = passwordProblem(context.config, password)
  if (problem === 'too short')
    throw badRequest(`password must be at least ${context.config.passwordMinLength} characters`)
  if (problem === 'too long') throw invalid('MaxSize', 'password')
  if (problem === 'common') throw badRequest('password is one of those that are guessed first')
  return context.passwords.hash(password)
}

async function insertUser(
  tx: Db,
  values: NewUser & { email: string },
  { by, isEmailProven }: { by: AuditSource; isEmailProven: boolean },
): Promise<UserRow> {
  const [user] = await tx.insert(users).values(values).returning()
  if (user === undefined) throw new Error('insert returned no row')
  const primary = { email: values.email, isPrimary: true, isActivated: true, isProven: isEmailProven }
  await tx.insert(emails).values({ userId: user.id, ...primary })
  await appendEvent(tx, {
    kind: 'user.created',
    actorId: typeof by === 'string' ? user.id : by.user.id,
    ownerId: user.id,
    payload: { userId: user.id, name: user.name },
  })
  const { name, email, isAdmin, isRestricted, visibility } = user
  const after = { name, email, isAdmin, isRestricted, visibility }
  await recordAudit(tx, by, { action: 'user.create', subject: { kind: 'user', id: user.id, name }, after })
  return user
}

type Taken = Pick<NewAccount, 'name' | 'email' | 'sourceId' | 'loginName'>

/** Wire: names and addresses in use are 422, in the words of the Gitea API. */
export function takenRefusal(error: unknown, { name, email, sourceId, loginName }: Taken): unknown {
  switch (violatedConstraint(error)) {
    case 'users_lower_name_key':
      return invalid(`user already exists [name: ${name}]`)
    case 'emails_lower_email_key':
      return invalid(`e-mail already in use [email: ${email}]`)
    case 'users_source_id_auth_sources_id_fk':
      return invalid(`login source does not exist [id: ${sourceId}]`)
    case 'users_login_name_of_source':
      return invalid('Required', 'login_name')
    case 'external_identities_subject_key':
      return invalid(`login name is taken at this source [login_name: ${loginName}]`)
  }
  return error
}
