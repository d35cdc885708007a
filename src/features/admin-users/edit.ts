import type { Db } from '../../../db/client.ts'
import type { UserRow } from '../../../db/schema/users.ts'
import { violatedConstraint } from '../../../db/violations.ts'
import { isServiceAddress } from '../../access/service-addresses.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { isEmailAddress } from '../../kernel/email.ts'
import { badRequest } from '../../kernel/errors.ts'
import { mailLetter } from '../../mail/send.ts'
import { replacePrimaryEmail } from '../emails/store.ts'
import { hashPassword, takenRefusal } from '../users/create.ts'
import { editUser, requireWebsite, type UserChange } from '../users/edit.ts'
import { leavePlace, placeAt } from '../users/external-identity.ts'
import { passwordChanged, primaryAddressChanged } from '../users/letters.ts'
import { lockAccount } from '../users/lock.ts'
import { requireAnotherAdministrator } from './administrators.ts'
import type { EditUserOption } from './schema.ts'
import { requirePerson } from './service.ts'

/**
 * @throws Refusal 400 for an address or a password that cannot be taken, 422 for a website, a login source, an organization, and
 * when no administrator would be left
 */
export async function editUserAsAdmin(
  context: Context,
  { user, by }: { user: UserRow; by: Actor },
  option: EditUserOption,
): Promise<UserRow> {
  requirePerson(user)
  requireWebsite(option.website)
  if (option.email !== undefined && !isEmailAddress(option.email))
    throw badRequest(`e-mail address contains unsupported character [email: ${option.email}]`)
  if (option.email !== undefined && isServiceAddress(option.email, context.config))
    throw badRequest(`e-mail address belongs to the service [email: ${option.email}]`)
  const change = {
    ...changeOf(option),
    ...placeOf(user, option),
    passwordHash: await newPasswordHash(context, option.password),
  }
  try {
    return await context.db.transaction((tx) => apply(context, tx, { user, by, change }))
  } catch (error) {
    if (violatedConstraint(error) !== 'emails_lower_email_key')
      throw takenRefusal(error, {
        name: user.name,
        email: user.email,
        sourceId: option.source_id,
        loginName: option.login_name,
      })
    throw badRequest(`e-mail already in use [email: ${option.email}]`)
  }
}

interface Edit {
  user: UserRow
  by: Actor
  change: UserChange
}

async function apply(context: Context, tx: Db, { user, by, change }: Edit): Promise<UserRow> {
  if (change.isAdmin === false || change.isActive === false || change.prohibitLogin === true)
    await requireAnotherAdministrator(tx, user)
  const { baseUrl } = context
  const email = change.email === user.email ? undefined : change.email
  if (email !== undefined) {
    await replacePrimaryEmail(tx, user.id, email)
    await mailLetter(context, tx, primaryAddressChanged({ user, by, baseUrl }, email))
  }
  if (change.sourceId !== undefined) {
    const present = await lockAccount(tx, user.id)
    if (present && present.sourceId !== null) await leavePlace(tx, user, present.sourceId)
  }
  const edited = await editUser(tx, user, change, by)
  if (change.sourceId) await placeAt(tx, user, { sourceId: change.sourceId, subject: edited.loginName })
  if (change.passwordHash !== undefined) await mailLetter(context, tx, passwordChanged({ user: edited, by, baseUrl }))
  return edited
}

const changeOf = (option: EditUserOption): UserChange => ({
  loginName: option.login_name,
  email: option.email,
  fullName: option.full_name,
  mustChangePassword: option.must_change_password,
  website: option.website,
  location: option.location,
  description: option.description,
  isActive: option.active,
  isAdmin: option.admin,
  allowGitHook: option.allow_git_hook,
  allowImportLocal: option.allow_import_local,
  allowCreateOrganization: option.allow_create_organization,
  maxRepoCreation: option.max_repo_creation,
  prohibitLogin: option.prohibit_login,
  isRestricted: option.restricted,
  visibility: option.visibility || undefined,
})

/** Where the account is from now on, unless it stays where it is. Wire: 0 is this site. */
function placeOf(user: UserRow, { source_id, login_name }: EditUserOption): Pick<UserChange, 'sourceId'> {
  const sourceId = source_id === undefined ? user.sourceId : source_id || null
  return sourceId === user.sourceId && (sourceId === null || login_name === user.loginName) ? {} : { sourceId }
}

/** Wire: an empty password means the old one. */
async function newPasswordHash(context: Context, password: string | undefined): Promise<string | undefined> {
  if (password === undefined || password === '') return undefined
  return hashPassword(context, password)
}
