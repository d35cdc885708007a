import type { Context } from '../context.ts'
import { forbidden, notFound } from '../kernel/errors.ts'
import type { Actor } from './actor.ts'
import { findPerson } from './person.ts'
import { maySudo } from './scopes.ts'

/**
 * Lets an administrator act as another user. The token's own scopes go on limiting, and the target's rights count.
 * @throws Refusal 403 unless an administrator whose credential holds the sudo right asks; 404 for an unknown user.
 */
export async function actAs(context: Context, actor: Actor | undefined, name: string): Promise<Actor> {
  if (!actor?.user.isAdmin) throw forbidden('Only administrators allowed to sudo.', { withoutUrl: true })
  if (actor.scopes && !maySudo(actor.scopes))
    throw forbidden('The token does not hold the sudo scope.', { withoutUrl: true, requiredScopes: ['sudo'] })
  const user = await findPerson(context.db, name)
  if (!user) throw notFound()
  return { ...actor, user, sudoer: actor.user }
}
