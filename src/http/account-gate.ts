import type { UserRow } from '../../db/schema/users.ts'
import { maySeeOwner } from '../access/decide.ts'
import { findAccount, findRenamedAccount } from '../access/load-account.ts'
import type { Actor } from '../auth/actor.ts'
import type { Context } from '../context.ts'
import { notFound } from '../kernel/errors.ts'
import { movedTo } from './moved.ts'

/** The person or organization that a path names, known to be visible to the caller. */
export interface Account {
  row: UserRow
  /** Whether the caller belongs to it (organizations). */
  isMember: boolean
  version: string
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
  const account = await findAccount(context.db, name, actor?.user.id)
  if (account && maySeeOwner(context.config, actor, account.row, account.isMember)) return account
  const renamed = account ? undefined : await findRenamedAccount(context.db, name, actor?.user.id)
  if (renamed && maySeeOwner(context.config, actor, renamed.row, renamed.isMember))
    throw movedTo(request, { status: 307, from: name, to: renamed.row.name })
  // Wire: the family says this of unknown users; a hidden one must not read differently.
  throw notFound(`user redirect does not exist [name: ${name}]`, undefined)
}
