import { eq, sql } from 'drizzle-orm'
import { rowVersion } from '../../db/row-version.ts'
import { organizationMembers, type TeamRow, teamMembers, teams } from '../../db/schema/organizations.ts'
import { type UserRow, users } from '../../db/schema/users.ts'
import { maySeeOwner } from '../access/decide.ts'
import type { Actor } from '../auth/actor.ts'
import type { Context } from '../context.ts'
import { forbidden, notFound } from '../kernel/errors.ts'
import { parseId } from '../kernel/ids.ts'

/** The team that a path names by its number, with what the caller is to it. */
export interface TeamAccess {
  row: TeamRow
  organization: UserRow
  isMember: boolean
  /** Owner of its organization, or a site administrator. */
  isOwner: boolean
  /** Changes with every change of the team or of its organization. */
  version: string
}

export interface TeamRule {
  /** `owner`: of the organization. Without a role members of the team pass as well. */
  role?: 'owner'
}

/**
 * @throws Refusal 404 in the same words for an unknown team and for one that the caller may not know of, 403 when the caller belongs
 * to the organization but neither to the team nor to its owners
 */
export async function teamFor(context: Context, actor: Actor, id: string, { role }: TeamRule): Promise<TeamAccess> {
  const number = parseId(id)
  const found = number === undefined ? undefined : await findTeam(context, actor, number)
  if (!found || !maySeeOwner(context.config, actor, found.organization, found.isInOrganization)) throw notFound()
  const isOwner = actor.user.isAdmin || found.isOwner
  if (!found.isMember && !isOwner) {
    if (!found.isInOrganization || found.row.visibility === 'private') throw notFound()
    throw forbidden('Must be a team member')
  }
  if (role === 'owner' && !isOwner) throw forbidden('Must be an organization owner')
  const { row, organization, isMember, version } = found
  return { row, organization, isMember, isOwner, version }
}

async function findTeam({ db }: Context, actor: Actor, id: number) {
  const mine = sql`${teamMembers.userId} = ${actor.user.id}`
  const [found] = await db
    .select({
      row: teams,
      organization: users,
      version: sql<string>`${rowVersion(teams)} || ' ' || ${rowVersion(users)}`,
      isMember: sql<boolean>`exists (select 1 from ${teamMembers} where ${teamMembers.teamId} = ${teams.id} and ${mine})`,
      isInOrganization: sql<boolean>`exists (select 1 from ${organizationMembers}
        where ${organizationMembers.organizationId} = ${users.id} and ${organizationMembers.userId} = ${actor.user.id})`,
      isOwner: sql<boolean>`exists (select 1 from ${teamMembers} join ${teams} as owning on owning.id = ${teamMembers.teamId}
        where ${teamMembers.organizationId} = ${users.id} and owning.permission = 'owner' and ${mine})`,
    })
    .from(teams)
    .innerJoin(users, eq(users.id, teams.organizationId))
    .where(eq(teams.id, id))
  return found
}
