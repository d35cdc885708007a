import { eq } from 'drizzle-orm'
import { type UserRow, users } from '../../../db/schema/users.ts'
import { maySeeOwner } from '../../access/decide.ts'
import { findAccount } from '../../access/load-account.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { requireScopes } from '../../http/admission.ts'
import { organizationFor } from '../../http/organization-gate.ts'
import { forbidden, invalid } from '../../kernel/errors.ts'

interface Wanted {
  repo_owner?: string | undefined
  uid?: number | undefined
}

/**
 * Whom a migrated repository is for: oneself, an organization that one may make repositories in, and for administrators anybody.
 * @throws Refusal 403, 422 for one that the caller may not know of, whether or not it exists
 */
export async function migrationOwner(
  context: Context,
  actor: Actor,
  { request, option }: { request: Request; option: Wanted },
): Promise<UserRow> {
  const { repo_owner: wanted = '', uid = 0 } = option
  const name = wanted || (uid === 0 ? actor.user.name : await nameOf(context, uid))
  if (name?.toLowerCase() === actor.user.lowerName) return actor.user
  const account = name === undefined ? undefined : await findAccount(context.db, name, actor.user.id)
  if (!account || !maySeeOwner(context.config, actor, account.row, account.isRelated))
    throw invalid(`user does not exist [uid: ${uid}, name: ${wanted}]`)
  if (account.row.kind === 'organization')
    return (await organizationFor(context, actor, { request, name: account.row.name }, { role: 'creator' })).row
  if (!actor.user.isAdmin) throw forbidden('Given user is not an organization.')
  requireScopes(actor, 'admin', request.method)
  return account.row
}

async function nameOf({ db }: Context, id: number): Promise<string | undefined> {
  const [row] = await db.select({ name: users.name }).from(users).where(eq(users.id, id))
  return row?.name
}
