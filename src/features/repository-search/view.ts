import { and, not, type SQL, sql } from 'drizzle-orm'
import { repositories } from '../../../db/schema/repositories.ts'
import type { SiteRules } from '../../access/decide.ts'
import { idsGivenTo, openToMembers } from '../../access/reach.ts'
import { openTo } from '../../access/visible.ts'
import type { Actor } from '../../auth/actor.ts'

/** What a person sees, in two parts without a row in common: each is found by indexes, however the site is mixed. */
export interface View {
  /** What the person sees without being given it. */
  open: SQL
  /** What the person was given beyond that. */
  beyond: SQL | undefined
}

/** Undefined for readers whose view is one condition already: visitors, administrators, and tokens that see less than their owner. */
export function viewOf(site: SiteRules, actor: Actor | undefined): View | undefined {
  const open = openTo(site, actor)
  if (!open || !actor || actor.publicOnly || actor.repositoryIds) return undefined
  const closed = not(open)
  // Of an organization with very many repositories only the closed ones are looked at.
  const closedOfOwner = not(openTo(site, actor, ownedOpenness) ?? sql`true`)
  const given = idsGivenTo(actor.user.id, {}, closedOfOwner)
  return { open, beyond: and(sql`${repositories.id} in (${given} union all ${openToMembers(actor.user.id)})`, closed) }
}

const ownedOpenness = { isPrivate: sql.raw('owned.is_private'), ownerVisibility: sql.raw('owner.visibility') }
