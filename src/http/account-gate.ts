import type { UserRow } from '../../db/schema/users.ts'
import { maySeeOwner } from '../access/decide.ts'
import { findAccount, findAccountByAnyName } from '../access/load-account.ts'
import type { Actor } from '../auth/actor.ts'
import type { Context } from '../context.ts'
import { notFound } from '../kernel/errors.ts'
import { movedTo } from './moved.ts'

/** The person or organization that a path names, known to be visible to the caller. */
export interface Account {
  row: UserRow
  version: string
}

/**
 * The account that a path names, for those who may put it into what they own: naming somebody exactly is no listing, so it may also be
 * one that hides. A token for public things names only what it may know of.
 * @throws Refusal 404 for an unknown account, 307 to the new name of a renamed one
 */
export async function namedAccount(context: Context, actor: Actor, name: string, request: Request): Promise<UserRow> {
  const account = actor.publicOnly ? undefined : await findAccount(context.db, name, actor.user.id)
  return account?.row ?? (await visibleAccount(context, actor, name, request)).row
}

/**
 * @throws Refusal 404 in the same words for an unknown and for a hidden account; 307 to the new name of a renamed one.
 */
export async function visibleAccount(
  context: Context,
  actor: Actor | undefined,
  name: string,
  request: Request,
): Promise<Account> {
  const account = await findAccountByAnyName(context.db, name, actor?.user.id)
  if (account && maySeeOwner(context.config, actor, account.row, account.isRelated)) {
    if (account.isMoved) throw movedTo(request, { status: 307, from: [name], to: [account.row.name] })
    return account
  }
  // Wire: the Gitea API says this of unknown users. A hidden one must get the same words.
  throw notFound(`user redirect does not exist [name: ${name}]`, undefined)
}
