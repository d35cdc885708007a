import { and, eq, sql } from 'drizzle-orm'
import { prepared } from '../../db/client.ts'
import { emails, type UserRow, users } from '../../db/schema/users.ts'
import type { Context } from '../context.ts'
import type { Actor } from './actor.ts'
import { checkPassword } from './check-password.ts'
import { isJobToken } from './job-tokens.ts'
import type { RequestOrigin } from './origin.ts'
import { findPerson } from './person.ts'
import { findTokenActor, isToken } from './token-lookup.ts'

const byEmail = prepared((db) =>
  db
    .select({ user: users })
    .from(emails)
    .innerJoin(users, eq(users.id, emails.userId))
    .where(and(eq(emails.lowerEmail, sql.placeholder('email')), eq(emails.isActivated, true)))
    .prepare('user_by_login_email'),
)

export interface BasicCredential {
  name: string
  password: string
  /** The second factor, from a header of its own. */
  code: string | undefined
  origin: RequestOrigin
}

/**
 * Wire: in a Basic credential a token may stand in either place: as the password of any name, or as the name with the password
 * empty or `x-oauth-basic`. Anything else is a name (or address) and a password. The token of a job that has ended is nobody's password:
 * workflows send it beside the name of a person, whose account must not be locked by it.
 * @throws Refusal 429 while the account or the address has to wait after wrong passwords
 */
export async function findBasicActor(context: Context, credential: BasicCredential): Promise<Actor | undefined> {
  const { name, password } = credential
  const secret = password === '' || password === 'x-oauth-basic' ? name : password
  if (isToken(secret)) {
    const actor = await findTokenActor(context, secret)
    if (actor || isJobToken(secret)) return actor
  }
  return findPasswordActor(context, credential)
}

async function findPasswordActor(context: Context, credential: BasicCredential): Promise<Actor | undefined> {
  const { name, password, code, origin } = credential
  const user = await findLogin(context, name)
  const isRight = await checkPassword(context, { user, name, password, code, origin })
  // Wire: a prohibited account learns nothing from its password.
  if (!user || !isRight || user.prohibitLogin) return undefined
  return { user, method: 'password', publicOnly: false }
}

/** The person whose name, or whose verified address, this is. */
export async function findLogin({ db }: Context, name: string): Promise<UserRow | undefined> {
  // PostgreSQL has no NUL in a text, so nobody has such a name.
  if (name.includes('\0')) return undefined
  const named = await findPerson(db, name)
  if (named || !name.includes('@')) return named
  const [addressed] = await byEmail(db).execute({ email: name.toLowerCase() })
  return addressed?.user
}
