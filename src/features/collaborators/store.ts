import { and, asc, eq, sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { issueAssignees, issues } from '../../../db/schema/issues.ts'
import { type TeamRow, teamMembers, teamRepositories, teams } from '../../../db/schema/organizations.ts'
import { collaborations, watches } from '../../../db/schema/repositories.ts'
import { type UserRow, users } from '../../../db/schema/users.ts'
import { teamsReaching } from '../../access/reach.ts'
import { numberedPage, type Page, type Paged } from '../../kernel/page.ts'

export type Grant = (typeof collaborations.$inferSelect)['permission']

export async function listCollaborators(db: Db, repositoryId: number, page: Page): Promise<Paged<UserRow>> {
  const byName = db
    .select({ user: users })
    .from(collaborations)
    .innerJoin(users, eq(users.id, collaborations.userId))
    .where(eq(collaborations.repositoryId, repositoryId))
    .orderBy(asc(users.lowerName))
  const [rows, total] = await Promise.all([
    byName.limit(page.limit).offset(page.offset),
    countCollaborators(db, repositoryId),
  ])
  return numberedPage(page, { rows: rows.map(({ user }) => user), total })
}

export const countCollaborators = (db: Db, repositoryId: number): Promise<number> =>
  db.$count(collaborations, eq(collaborations.repositoryId, repositoryId))

export async function findCollaboration(db: Db, repositoryId: number, userId: number): Promise<Grant | undefined> {
  const [row] = await db
    .select({ permission: collaborations.permission })
    .from(collaborations)
    .where(and(eq(collaborations.repositoryId, repositoryId), eq(collaborations.userId, userId)))
  return row?.permission
}

export async function upsertCollaboration(
  tx: Db,
  { repositoryId, userId, permission }: { repositoryId: number; userId: number; permission: Grant },
): Promise<void> {
  await tx
    .insert(collaborations)
    .values({ repositoryId, userId, permission })
    .onConflictDoUpdate({ target: [collaborations.repositoryId, collaborations.userId], set: { permission } })
}

export async function removeCollaboration(tx: Db, repositoryId: number, userId: number): Promise<Grant | undefined> {
  const [gone] = await tx
    .delete(collaborations)
    .where(and(eq(collaborations.repositoryId, repositoryId), eq(collaborations.userId, userId)))
    .returning({ permission: collaborations.permission })
  return gone?.permission
}

export async function removeWatch(tx: Db, repositoryId: number, userId: number): Promise<void> {
  await tx.delete(watches).where(and(eq(watches.repositoryId, repositoryId), eq(watches.userId, userId)))
}

export async function removeAssignments(tx: Db, repositoryId: number, userId: number): Promise<void> {
  await tx
    .delete(issueAssignees)
    .where(
      and(
        eq(issueAssignees.userId, userId),
        sql`exists (select 1 from ${issues} where ${issues.id} = ${issueAssignees.issueId} and ${issues.repositoryId} = ${repositoryId})`,
      ),
    )
}

/** The teams that reach a repository of an organization: by a grant, or because they reach all. */
export function listRepositoryTeams(
  db: Db,
  { id, ownerId }: { id: number; ownerId: number },
  name?: string,
): Promise<TeamRow[]> {
  return db
    .select()
    .from(teams)
    .where(
      and(
        eq(teams.organizationId, ownerId),
        name === undefined ? undefined : eq(teams.lowerName, name.toLowerCase()),
        reaches(id),
      ),
    )
    .orderBy(asc(sql`${teams.permission} <> 'owner'`), asc(teams.lowerName))
}

const reaches = (repositoryId: number) => sql`${teams.id} in (${teamsReaching(repositoryId)})`

export async function findTeamByName(db: Db, organizationId: number, name: string): Promise<TeamRow | undefined> {
  const [row] = await db
    .select()
    .from(teams)
    .where(and(eq(teams.organizationId, organizationId), eq(teams.lowerName, name.toLowerCase())))
  return row
}

export async function teamReaches(db: Db, teamId: number, repositoryId: number): Promise<boolean> {
  return (await db.$count(teams, and(eq(teams.id, teamId), reaches(repositoryId)))) > 0
}

export async function insertTeamRepository(tx: Db, teamId: number, repositoryId: number): Promise<boolean> {
  const rows = await tx.insert(teamRepositories).values({ teamId, repositoryId }).onConflictDoNothing().returning()
  return rows.length > 0
}

export async function removeTeamRepository(tx: Db, teamId: number, repositoryId: number): Promise<boolean> {
  const gone = await tx
    .delete(teamRepositories)
    .where(and(eq(teamRepositories.teamId, teamId), eq(teamRepositories.repositoryId, repositoryId)))
    .returning()
  return gone.length > 0
}

export async function listTeamIdsOf(db: Db, userId: number, organizationId: number): Promise<number[]> {
  const mine = and(eq(teamMembers.userId, userId), eq(teamMembers.organizationId, organizationId))
  const rows = await db.select({ id: teamMembers.teamId }).from(teamMembers).where(mine)
  return rows.map(({ id }) => id)
}
