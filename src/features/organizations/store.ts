import { and, eq, ne, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { afterPosition, inOrder, type SortKey } from '../../../db/keyset.ts'
import { organizationMembers, teamMembers, teams } from '../../../db/schema/organizations.ts'
import { repositories } from '../../../db/schema/repositories.ts'
import { type UserRow, users } from '../../../db/schema/users.ts'
import type { SiteRules } from '../../access/decide.ts'
import { visibleAccounts } from '../../access/visible-accounts.ts'
import type { Actor } from '../../auth/actor.ts'
import { cutPage, type Page, type Paged, rowsToRead, rowsToSkip } from '../../kernel/page.ts'

const byName: SortKey[] = [{ key: users.lowerName, type: 'text' }]

/** Organizations that meet all conditions over `users`, by name. */
export async function listOrganizations(db: Db, conditions: readonly SQL[], page: Page): Promise<Paged<UserRow>> {
  const matching = and(eq(users.kind, 'organization'), ...conditions)
  const found = db
    .select()
    .from(users)
    .where(and(matching, afterPosition(byName, page.after)))
    .orderBy(inOrder(byName))
    .limit(rowsToRead(page))
    .offset(rowsToSkip(page))
  const [rows, total] = await Promise.all([found, db.$count(users, matching)])
  return cutPage(page, { rows, total }, ({ lowerName }) => [lowerName])
}

/** How many organizations have this person among their owners. */
export const countOwned = (db: Db, userId: number): Promise<number> =>
  db.$count(
    teamMembers,
    and(
      eq(teamMembers.userId, userId),
      sql`${teamMembers.teamId} in (select ${teams.id} from ${teams} where ${teams.permission} = 'owner')`,
    ),
  )

/** Wire: private organizations are listed for administrators only, not even for their owners (who have /user/orgs). */
export function openlyListed(site: SiteRules, actor: Actor | undefined): SQL {
  const visible = visibleAccounts(site, actor)
  return actor?.user.isAdmin ? visible : sql`(${visible} and ${users.visibility} <> 'private')`
}

/** As a condition over `users`: the organizations that a person belongs to. `publicly`: and says so to everybody. */
export const belongsTo = (userId: number, { publicly }: { publicly: boolean }): SQL => sql`${users.id} in (
  select ${organizationMembers.organizationId} from ${organizationMembers}
  where ${organizationMembers.userId} = ${userId} ${publicly ? sql`and ${organizationMembers.isPublic}` : sql``})`

/** Those who say so: as a condition over `organizationMembers`. */
export const saysSo: SQL = eq(organizationMembers.isPublic, true)

/** @param conditions over `organizationMembers` and `users`: a member is listed who meets all of them */
export async function listMembers(
  db: Db,
  organizationId: number,
  { conditions, page }: { conditions: readonly SQL[]; page: Page },
): Promise<Paged<UserRow>> {
  const matching = and(eq(organizationMembers.organizationId, organizationId), ...conditions)
  const members = db
    .select({ user: users })
    .from(organizationMembers)
    .innerJoin(users, eq(users.id, organizationMembers.userId))
    .where(and(matching, afterPosition(byName, page.after)))
    .orderBy(inOrder(byName))
    .limit(rowsToRead(page))
    .offset(rowsToSkip(page))
  const all = db
    .select({ id: users.id })
    .from(organizationMembers)
    .innerJoin(users, eq(users.id, organizationMembers.userId))
    .where(matching)
  const [found, total] = await Promise.all([members, db.$count(all)])
  const rows = found.map(({ user }) => user)
  return cutPage(page, { rows, total }, ({ lowerName }) => [lowerName])
}

export interface Membership {
  user: UserRow
  isPublic: boolean
}

export async function findMember(db: Db, organizationId: number, name: string): Promise<Membership | undefined> {
  const [row] = await db
    .select({ user: users, isPublic: organizationMembers.isPublic })
    .from(organizationMembers)
    .innerJoin(users, eq(users.id, organizationMembers.userId))
    .where(and(eq(organizationMembers.organizationId, organizationId), eq(users.lowerName, name.toLowerCase())))
  return row
}

/** Returns whether that changed anything. */
export async function publishMembership(
  db: Db,
  { organizationId, userId, isPublic }: { organizationId: number; userId: number; isPublic: boolean },
): Promise<boolean> {
  const changed = await db
    .update(organizationMembers)
    .set({ isPublic })
    .where(
      and(
        eq(organizationMembers.organizationId, organizationId),
        eq(organizationMembers.userId, userId),
        ne(organizationMembers.isPublic, isPublic),
      ),
    )
    .returning({ userId: organizationMembers.userId })
  return changed.length > 0
}

/**
 * Locks an organization. Whoever takes people out of its teams does so first: the rule that an owner must be left locks this row at the
 * end of the transaction, and who deletes the organization at that moment would wait for the teams meanwhile.
 */
export async function lockOrganization(tx: Db, id: number): Promise<void> {
  await tx.select({ id: users.id }).from(users).where(eq(users.id, id)).for('no key update')
}

/** Takes a person out of all teams, which ends the membership (see db/README.md). False for somebody who was in none. */
export async function removeFromTeams(db: Db, organizationId: number, userId: number): Promise<boolean> {
  const gone = await db
    .delete(teamMembers)
    .where(and(eq(teamMembers.organizationId, organizationId), eq(teamMembers.userId, userId)))
    .returning({ teamId: teamMembers.teamId })
  return gone.length > 0
}

export const countRepositories = (db: Db, ownerId: number): Promise<number> =>
  db.$count(repositories, eq(repositories.ownerId, ownerId))

/** What a person's teams in an organization let them do there. */
export async function findTeamRights(db: Db, organizationId: number, userId: number) {
  const [row] = await db
    .select({
      isOwner: sql<boolean>`coalesce(bool_or(${teams.permission} = 'owner'), false)`,
      isAdmin: sql<boolean>`coalesce(bool_or(${teams.permission} in ('owner', 'admin')), false)`,
      canWrite: sql<boolean>`coalesce(bool_or(${teams.permission} in ('owner', 'admin', 'write') or ${hasUnit('write')}), false)`,
      canRead: sql<boolean>`coalesce(bool_or(${teams.permission} <> 'none' or ${hasUnit('read')}), false)`,
      canCreateRepository: sql<boolean>`coalesce(bool_or(${teams.permission} = 'owner' or ${teams.canCreateOrgRepo}), false)`,
    })
    .from(teamMembers)
    .innerJoin(teams, eq(teams.id, teamMembers.teamId))
    .where(and(eq(teamMembers.organizationId, organizationId), eq(teamMembers.userId, userId)))
  return row ?? { isOwner: false, isAdmin: false, canWrite: false, canRead: false, canCreateRepository: false }
}

const hasUnit = (least: 'read' | 'write'): SQL => sql`exists (
  select 1 from team_units where team_units.team_id = ${teams.id} and team_units.permission in ${
    least === 'read' ? sql`('read', 'write', 'admin', 'owner')` : sql`('write', 'admin', 'owner')`
  })`
