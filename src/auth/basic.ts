import { and, eq, sql } from 'drizzle-orm'
import { prepared } from '../../db/prepared.ts'
import { emails, type UserRow, users } from '../../db/schema/users.ts'
import type { Context } from '../context.ts'
import type { Actor } from './actor.ts'
import { findTokenActor, TOKEN_PATTERN } from './token.ts'

const byName = prepared((db) =>
  db
    .select()
    .from(users)
    .where(and(eq(users.lowerName, sql.placeholder('name')), eq(users.kind, 'user')))
    .prepare('user_by_login_name'),
)

const byEmail = prepared((db) =>
  db
    .select({ user: users })
    .from(emails)
    .innerJoin(users, eq(users.id, emails.userId))
    .where(and(eq(emails.lowerEmail, sql.placeholder('email')), eq(emails.isActivated, true)))
    .prepare('user_by_login_email'),
)

/**
 * Wire: in a Basic credential a token may stand in either place: as the password of any name, or as the name with the password
 * empty or `x-oauth-basic`. Anything else is a name (or address) and a password.
 */
export async function findBasicActor(context: Context, name: string, password: string): Promise<Actor | undefined> {
  const secret = password === '' || password === 'x-oauth-basic' ? name : password
  if (TOKEN_PATTERN.test(secret)) {
    const actor = await findTokenActor(context, secret)
    if (actor) return actor
  }
  return findPasswordActor(context, name, password)
}

async function findPasswordActor(context: Context, name: string, password: string): Promise<Actor | undefined> {
  const user = await findLogin(context, name)
  const matches = await context.passwords.verify(user?.passwordHash, password)
  // Wire: a prohibited account is told nothing when it comes with its password.
  if (!user || !matches || user.prohibitLogin) return undefined
  return { user, method: 'password', publicOnly: false }
}

async function findLogin({ db }: Context, name: string): Promise<UserRow | undefined> {
  const [named] = await byName(db).execute({ name: name.toLowerCase() })
  if (named || !name.includes('@')) return named
  const [addressed] = await byEmail(db).execute({ email: name.toLowerCase() })
  return addressed?.user
}
