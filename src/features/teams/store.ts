import { and, asc, eq, type SQL, sql } from 'drizzle-orm'
import { anyOf } from '../../../db/any-of.ts'
import type { Db } from '../../../db/client.ts'
import { escapeLike } from '../../../db/like.ts'
import { type PermissionWord, type TeamRow, teamMembers, teams, teamUnits } from '../../../db/schema/organizations.ts'
import { type UserRow, users } from '../../../db/schema/users.ts'
import { numberedPage, type Page, type Paged } from '../../kernel/page.ts'

export type UnitMap = Partial<Record<string, PermissionWord>>
export type NewTeam = typeof teams.$inferInsert

export interface TeamFilter {
  organizationId: number
  /** Leaves out what this person may not know of. */
  shownTo?: number
  text?: string
  inDescription?: boolean
}

/** As a condition over `teams`. */
export function teamsOf({ organizationId, shownTo, text, inDescription }: TeamFilter): SQL | undefined {
  const pattern = `%${escapeLike(text?.toLowerCase() ?? '')}%`
  const inName = sql`${teams.lowerName} like ${pattern}`
  return and(
    eq(teams.organizationId, organizationId),
    shownTo === undefined ? undefined : sql`(${teams.visibility} <> 'private' or ${withMember(shownTo)})`,
    text === undefined
      ? undefined
      : inDescription
        ? sql`(${inName} or lower(${teams.description}) like ${pattern})`
        : inName,
  )
}

/** As a condition over `teams`. */
export const withMember = (userId: number): SQL => sql`exists (
  select 1 from ${teamMembers} where ${teamMembers.teamId} = ${teams.id} and ${teamMembers.userId} = ${userId})`

export interface TeamWithOrganization {
  team: TeamRow
  organization: UserRow
}

export const countTeams = (db: Db, organizationId: number): Promise<number> =>
  db.$count(teams, eq(teams.organizationId, organizationId))

/** The owners of an organization first, then by name. */
export async function listTeams(db: Db, wanted: SQL | undefined, page: Page): Promise<Paged<TeamWithOrganization>> {
  const ordered = db
    .select({ team: teams, organization: users })
    .from(teams)
    .innerJoin(users, eq(users.id, teams.organizationId))
    .where(wanted)
    .orderBy(asc(sql`${teams.permission} <> 'owner'`), asc(teams.lowerName), asc(teams.id))
  const [rows, total] = await Promise.all([ordered.limit(page.limit).offset(page.offset), db.$count(teams, wanted)])
  return numberedPage(page, { rows, total })
}

/** The units of each team, in one statement. */
export async function loadUnits(db: Db, teamIds: readonly number[]): Promise<ReadonlyMap<number, UnitMap>> {
  if (teamIds.length === 0) return new Map()
  const rows = await db.select().from(teamUnits).where(anyOf(teamUnits.teamId, teamIds)).orderBy(asc(teamUnits.unit))
  const byTeam = Map.groupBy(rows, ({ teamId }) => teamId)
  return new Map(
    [...byTeam].map(([id, units]) => [id, Object.fromEntries(units.map((row) => [row.unit, row.permission]))]),
  )
}

export async function insertTeam(tx: Db, values: NewTeam): Promise<TeamRow> {
  const [row] = await tx.insert(teams).values(values).returning()
  if (row === undefined) throw new Error('insert returned no row')
  return row
}

export async function updateTeam(tx: Db, id: number, change: Partial<NewTeam>): Promise<TeamRow | undefined> {
  const set = { ...change, updatedAt: sql`now()` }
  const [row] = await tx.update(teams).set(set).where(eq(teams.id, id)).returning()
  return row
}

/** Locks the row, so that two changes of the same team follow each other. */
export async function lockTeam(tx: Db, id: number): Promise<TeamRow | undefined> {
  const [row] = await tx.select().from(teams).where(eq(teams.id, id)).for('update')
  return row
}

/** False when somebody else was quicker. */
export async function removeTeam(tx: Db, id: number): Promise<boolean> {
  // First the team: who joins it at this moment waits, and then finds it gone.
  if (!(await lockTeam(tx, id))) return false
  await tx.delete(teamMembers).where(eq(teamMembers.teamId, id))
  await tx.delete(teams).where(eq(teams.id, id))
  return true
}

export async function replaceUnits(tx: Db, teamId: number, units: UnitMap): Promise<void> {
  await tx.delete(teamUnits).where(eq(teamUnits.teamId, teamId))
  const rows = Object.entries(units).flatMap(([unit, permission]) => (permission ? [{ teamId, unit, permission }] : []))
  if (rows.length > 0) await tx.insert(teamUnits).values(rows)
}

export async function listTeamMembers(db: Db, teamId: number, page: Page): Promise<Paged<UserRow>> {
  const inTeam = eq(teamMembers.teamId, teamId)
  const byName = db
    .select({ user: users })
    .from(teamMembers)
    .innerJoin(users, eq(users.id, teamMembers.userId))
    .where(inTeam)
    .orderBy(asc(users.lowerName))
  const [rows, total] = await Promise.all([
    byName.limit(page.limit).offset(page.offset),
    db.$count(teamMembers, inTeam),
  ])
  return numberedPage(page, { rows: rows.map(({ user }) => user), total })
}

export async function findTeamMember(db: Db, teamId: number, name: string): Promise<UserRow | undefined> {
  const [row] = await db
    .select({ user: users })
    .from(teamMembers)
    .innerJoin(users, eq(users.id, teamMembers.userId))
    .where(and(eq(teamMembers.teamId, teamId), eq(users.lowerName, name.toLowerCase())))
  return row?.user
}

export async function insertTeamMember(
  tx: Db,
  { teamId, organizationId, userId }: { teamId: number; organizationId: number; userId: number },
): Promise<boolean> {
  const rows = await tx.insert(teamMembers).values({ teamId, organizationId, userId }).onConflictDoNothing().returning()
  return rows.length > 0
}

export async function removeTeamMember(tx: Db, teamId: number, userId: number): Promise<boolean> {
  const gone = await tx
    .delete(teamMembers)
    .where(and(eq(teamMembers.teamId, teamId), eq(teamMembers.userId, userId)))
    .returning({ teamId: teamMembers.teamId })
  return gone.length > 0
}
