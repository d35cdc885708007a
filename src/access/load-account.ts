import { and, eq, or, sql } from 'drizzle-orm'
import type { Db } from '../../db/client.ts'
import { prepared } from '../../db/prepared.ts'
import { rowVersion } from '../../db/row-version.ts'
import { organizationMembers, teamMembers, teams } from '../../db/schema/organizations.ts'
import { repositories, repositoryRedirects } from '../../db/schema/repositories.ts'
import { type UserRow, userRedirects, users } from '../../db/schema/users.ts'
import { findRepository, type LoadedRepository, type Reader } from './load.ts'

export interface LoadedAccount {
  row: UserRow
  /** Whether the reader belongs to it. */
  isMember: boolean
  /** Changes with every change of the row. */
  version: string
}

const columns = {
  row: users,
  version: rowVersion(users),
  isMember: sql<boolean>`exists (select 1 from ${organizationMembers}
    where ${organizationMembers.organizationId} = ${users.id} and ${organizationMembers.userId} = ${sql.placeholder('readerId')})`,
}

const byName = prepared((db) =>
  db
    .select(columns)
    .from(users)
    .where(eq(users.lowerName, sql.placeholder('name')))
    .prepare('account_by_name'),
)

const byOldName = prepared((db) =>
  db
    .select(columns)
    .from(userRedirects)
    .innerJoin(users, eq(users.id, userRedirects.userId))
    .where(eq(userRedirects.lowerName, sql.placeholder('name')))
    .prepare('account_by_old_name'),
)

/** A person or an organization by its name in any letter case. */
export async function findAccount(
  db: Db,
  name: string,
  readerId: number | undefined,
): Promise<LoadedAccount | undefined> {
  const [account] = await byName(db).execute({ name: name.toLowerCase(), readerId: readerId ?? 0 })
  return account
}

/** The account that gave this name up by a rename. */
export async function findRenamedAccount(
  db: Db,
  name: string,
  readerId: number | undefined,
): Promise<LoadedAccount | undefined> {
  const [account] = await byOldName(db).execute({ name: name.toLowerCase(), readerId: readerId ?? 0 })
  return account
}

/** The repository that had this path before its owner or itself was renamed. */
export async function findRenamedRepository(
  db: Db,
  path: { owner: string; name: string },
  reader: Reader | undefined,
): Promise<LoadedRepository | undefined> {
  const readerId = reader?.id
  const owner = (await findAccount(db, path.owner, readerId)) ?? (await findRenamedAccount(db, path.owner, readerId))
  if (!owner) return undefined
  const isOldOwnerName = owner.row.name.toLowerCase() !== path.owner.toLowerCase()
  if (isOldOwnerName) {
    const same = await findRepository(db, { owner: owner.row.name, name: path.name }, reader)
    if (same) return same
  }
  const [redirect] = await db
    .select({ name: repositories.name, owner: users.name })
    .from(repositoryRedirects)
    .innerJoin(repositories, eq(repositories.id, repositoryRedirects.repositoryId))
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .where(
      and(eq(repositoryRedirects.ownerId, owner.row.id), eq(repositoryRedirects.lowerName, path.name.toLowerCase())),
    )
  return redirect && findRepository(db, redirect, reader)
}

/** Whether a member may make repositories for an organization: its owners, and the teams that were given it. */
export async function mayCreateIn(db: Db, organizationId: number, userId: number): Promise<boolean> {
  const [grant] = await db
    .select({ id: teams.id })
    .from(teamMembers)
    .innerJoin(teams, eq(teams.id, teamMembers.teamId))
    .where(
      and(
        eq(teamMembers.userId, userId),
        eq(teams.organizationId, organizationId),
        or(eq(teams.permission, 'owner'), eq(teams.canCreateOrgRepo, true)),
      ),
    )
    .limit(1)
  return grant !== undefined
}
