import { and, asc, eq, sql } from 'drizzle-orm'
import { anyOf } from '../../../db/any-of.ts'
import type { Db } from '../../../db/client.ts'
import type { AuthSourceRow } from '../../../db/schema/auth-sources.ts'
import { authSourceTeams } from '../../../db/schema/external-identities.ts'
import { teamMembers, teams } from '../../../db/schema/organizations.ts'
import { type UserRow, users } from '../../../db/schema/users.ts'
import { isBlockedInside } from '../../access/blocks.ts'
import { recordAudit } from '../../audit/record.ts'
import { lockOrganization } from '../organizations/store.ts'
import { insertTeamMember, removeTeamMember } from '../teams/store.ts'

/**
 * Brings somebody into the teams of their groups at a source, and out of those of other groups where the source says so. Teams that the
 * source does not name are left alone; so is the last owner of an organization, and whoever it has blocked stays outside.
 */
export async function applyGroups(
  tx: Db,
  { source, user, groups }: { source: AuthSourceRow; user: UserRow; groups: readonly string[] },
): Promise<void> {
  if (source.groupClaim === null) return
  const mapped = await listMappedTeams(tx, source.id, user.id)
  const wanted = new Set(mapped.filter(({ groupName }) => groups.includes(groupName)).map(({ team }) => team.id))
  const byTeam = [...new Map(mapped.map((row) => [row.team.id, row])).values()]
  const changed = byTeam.filter(({ team, isMember }) => isMember !== wanted.has(team.id))
  // In one order, so that two sign-ins never wait for each other.
  for (const { team, organization, isMember } of changed) {
    const subject = { kind: 'team', id: team.id, name: `${organization.name}/${team.name}` }
    if (!isMember) {
      if (await isBlockedInside(tx, { blockerId: organization.id, blockedId: user.id })) continue
      await insertTeamMember(tx, { teamId: team.id, organizationId: organization.id, userId: user.id })
      await recordAudit(tx, 'system', {
        action: 'team.add_member',
        subject,
        after: { member: user.name, source: source.name },
      })
    } else if (source.removesFromTeams) {
      await lockOrganization(tx, organization.id)
      if (team.permission === 'owner' && (await tx.$count(teamMembers, eq(teamMembers.teamId, team.id))) === 1) continue
      if (!(await removeTeamMember(tx, team.id, user.id))) continue
      const before = { member: user.name, source: source.name }
      await recordAudit(tx, 'system', { action: 'team.remove_member', subject, before })
    }
  }
}

interface MappedTeam {
  groupName: string
  team: { id: number; name: string; permission: string }
  organization: { id: number; name: string }
  isMember: boolean
}

/** The teams that a source names, and whether somebody is in them. `MAX_GROUP_TEAMS` bounds them. */
const listMappedTeams = (db: Db, sourceId: number, userId: number): Promise<MappedTeam[]> =>
  db
    .select({
      groupName: authSourceTeams.groupName,
      team: { id: teams.id, name: teams.name, permission: teams.permission },
      organization: { id: users.id, name: users.name },
      isMember: sql<boolean>`exists (select from ${teamMembers}
        where ${teamMembers.teamId} = ${teams.id} and ${teamMembers.userId} = ${userId})`,
    })
    .from(authSourceTeams)
    .innerJoin(teams, eq(teams.id, authSourceTeams.teamId))
    .innerJoin(users, eq(users.id, teams.organizationId))
    .where(eq(authSourceTeams.sourceId, sourceId))
    .orderBy(asc(teams.organizationId), asc(teams.id))

/** Group, organization and team, as names. */
export interface GroupTeam {
  group: string
  organization: string
  team: string
}

/** Of all sources. */
export const listGroupTeams = (db: Db): Promise<(GroupTeam & { sourceId: number })[]> =>
  db
    .select({
      sourceId: authSourceTeams.sourceId,
      group: authSourceTeams.groupName,
      organization: users.name,
      team: teams.name,
    })
    .from(authSourceTeams)
    .innerJoin(teams, eq(teams.id, authSourceTeams.teamId))
    .innerJoin(users, eq(users.id, teams.organizationId))
    .orderBy(asc(authSourceTeams.groupName), asc(users.name), asc(teams.name))

/** @returns those that name no team; then nothing is changed */
export async function replaceGroupTeams(tx: Db, sourceId: number, wanted: readonly GroupTeam[]): Promise<GroupTeam[]> {
  const organizations = wanted.map(({ organization }) => organization.toLowerCase())
  const found = await tx
    .select({ id: teams.id, team: teams.lowerName, organization: users.lowerName })
    .from(teams)
    .innerJoin(users, eq(users.id, teams.organizationId))
    .where(and(eq(users.kind, 'organization'), anyOf(users.lowerName, organizations)))
  const ids = new Map(found.map(({ id, team, organization }) => [`${organization}/${team}`, id]))
  const idOf = ({ organization, team }: GroupTeam) => ids.get(`${organization}/${team}`.toLowerCase())
  const unknown = wanted.filter((row) => idOf(row) === undefined)
  if (unknown.length > 0) return unknown
  await tx.delete(authSourceTeams).where(eq(authSourceTeams.sourceId, sourceId))
  const rows = wanted.flatMap((row) => {
    const teamId = idOf(row)
    return teamId === undefined ? [] : [{ sourceId, groupName: row.group, teamId }]
  })
  if (rows.length > 0) await tx.insert(authSourceTeams).values(rows).onConflictDoNothing()
  return []
}
