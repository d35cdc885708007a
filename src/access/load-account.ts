import { and, eq, or, sql } from 'drizzle-orm'
import { type Db, prepared } from '../../db/client.ts'
import { rowVersion } from '../../db/row-version.ts'
import { teamMembers, teams } from '../../db/schema/organizations.ts'
import { type UserRow, userRedirects, users } from '../../db/schema/users.ts'
import { isRelatedTo } from './visible-accounts.ts'

export interface LoadedAccount {
  row: UserRow
  /** Whether the reader belongs to the organization, or shares a team with the person. */
  isRelated: boolean
  /** Changes with every change of the row. */
  version: string
}

/** Found by a name, which may be an old one. */
export interface FoundByName extends LoadedAccount {
  /** The account has another name now. */
  isMoved: boolean
}

const name = sql.placeholder('name')

const byName = prepared((db) =>
  db
    .select({
      row: users,
      version: rowVersion(users),
      isRelated: sql<boolean>`${isRelatedTo(sql`${sql.placeholder('readerId')}`)}`,
    })
    .from(users)
    .where(
      eq(
        users.id,
        sql`coalesce(
          (select named.id from ${users} as named where named.lower_name = ${name}),
          (select ${userRedirects.userId} from ${userRedirects} where ${userRedirects.lowerName} = ${name}))`,
      ),
    )
    .prepare('account_by_name'),
)

/**
 * A person or an organization by its name in any letter case, or by one that it gave up by a rename and that nobody has taken since.
 * One statement, the same for what exists, what is hidden and what is unknown: time must not tell them apart.
 */
export async function findAccountByAnyName(
  db: Db,
  name: string,
  readerId: number | undefined,
): Promise<FoundByName | undefined> {
  const lowerName = name.toLowerCase()
  const [account] = await byName(db).execute({ name: lowerName, readerId: readerId ?? 0 })
  return account && { ...account, isMoved: account.row.lowerName !== lowerName }
}

/** A person or an organization by the name that it has now, in any letter case. */
export async function findAccount(
  db: Db,
  name: string,
  readerId: number | undefined,
): Promise<LoadedAccount | undefined> {
  const account = await findAccountByAnyName(db, name, readerId)
  return account?.isMoved ? undefined : account
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
