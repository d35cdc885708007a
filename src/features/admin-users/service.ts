import type { UserRow } from '../../../db/schema/users.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { invalid } from '../../kernel/errors.ts'
import { givenTime } from '../../kernel/time.ts'
import { createUser } from '../users/create.ts'
import type { CreateUserOption } from './schema.ts'

/**
 * @throws Refusal 422 for a name, an address, a time or a login source that cannot be, 400 for a password that is too short or
 * missing
 */
export async function createUserAsAdmin(context: Context, by: Actor, option: CreateUserOption): Promise<UserRow> {
  // Wire: 0 is this site.
  const sourceId = option.source_id || undefined
  const createdAt = givenTime(option.created_at)
  if (option.created_at !== undefined && createdAt === undefined) throw invalid('is no time', 'created_at')
  return createUser(context, {
    name: option.username,
    email: option.email,
    // Who signs in elsewhere needs none here.
    password: sourceId !== undefined && !option.password ? { hash: '' } : (option.password ?? ''),
    fullName: option.full_name,
    loginName: option.login_name,
    sourceId,
    // Wire: whoever is given a password must choose their own, unless the administrator says otherwise.
    mustChangePassword: option.must_change_password ?? (sourceId === undefined || !!option.password),
    isRestricted: option.restricted,
    visibility: option.visibility || undefined,
    createdAt: createdAt ?? undefined,
    by,
    isNotified: option.send_notify,
  })
}

/** What is done to a person by their name is not done to an organization. @throws Refusal 422 */
export function requirePerson(account: UserRow): void {
  if (account.kind !== 'user') throw invalid(`${account.name} is an organization not a user`)
}
