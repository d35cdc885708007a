import { eq, sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { labels } from '../../../db/schema/issues.ts'
import { teamMembers, teams } from '../../../db/schema/organizations.ts'
import { refs, type TipCommit } from '../../../db/schema/refs.ts'
import {
  collaborations,
  type NewRepository,
  type RepositoryRow,
  repositories,
  watches,
} from '../../../db/schema/repositories.ts'
import { users } from '../../../db/schema/users.ts'
import type { LabelTemplate } from '../../templates/label-sets.ts'

/** The id was reserved before; every other default is the table's. */
export async function insertRepository(tx: Db, row: NewRepository & { id: number }): Promise<RepositoryRow> {
  const [inserted] = await tx.insert(repositories).overridingSystemValue().values(row).returning()
  if (inserted === undefined) throw new Error('insert returned no row')
  return inserted
}

export async function updateRepository(
  tx: Db,
  id: number,
  change: Partial<NewRepository>,
): Promise<RepositoryRow | undefined> {
  const [row] = await tx.update(repositories).set(change).where(eq(repositories.id, id)).returning()
  return row
}

/** How many repositories an account owns; inside a transaction that has changed one, nobody else changes the number. */
export async function countOwned(db: Db, ownerId: number): Promise<number> {
  const [row] = await db.select({ count: users.repositoriesCount }).from(users).where(eq(users.id, ownerId))
  return row?.count ?? 0
}

export async function isNameTaken(db: Db, ownerId: number, name: string): Promise<boolean> {
  const found = await db.$count(
    repositories,
    sql`${repositories.ownerId} = ${ownerId} and ${repositories.lowerName} = ${name.toLowerCase()}`,
  )
  return found > 0
}

export async function insertWatch(tx: Db, userId: number, repositoryId: number): Promise<void> {
  await tx.insert(watches).values({ userId, repositoryId }).onConflictDoNothing()
}

export async function insertLabelSet(tx: Db, repositoryId: number, set: readonly LabelTemplate[]): Promise<void> {
  if (set.length === 0) return
  await tx.insert(labels).values(
    set.map(({ name, color, description, exclusive }) => ({
      repositoryId,
      name,
      color,
      description,
      isExclusive: exclusive,
    })),
  )
}

interface FirstBranch {
  repositoryId: number
  name: string
  sha: string
  commit: TipCommit
  pusherId: number
}

export async function insertFirstBranch(tx: Db, branch: FirstBranch): Promise<void> {
  const committedAt = new Date(branch.commit.committedAt)
  await tx.insert(refs).values({ ...branch, kind: 'branch', committedAt, updatedAt: committedAt })
}

/** Who made a repository for an organization administers it, also where no team of theirs gives them that. */
export async function insertCreatorAsAdmin(
  tx: Db,
  creation: { repositoryId: number; organizationId: number; userId: number },
): Promise<void> {
  const { repositoryId, organizationId, userId } = creation
  await tx.execute(sql`
    insert into ${collaborations} (repository_id, user_id, permission)
    select ${repositoryId}::bigint, ${userId}::bigint, 'admin' where not exists (
      select 1 from ${teamMembers} join ${teams} on ${teams.id} = ${teamMembers.teamId}
      where ${teamMembers.userId} = ${userId} and ${teams.organizationId} = ${organizationId}
        and (${teams.permission} = 'owner' or (${teams.permission} = 'admin' and ${teams.includesAllRepositories})))`)
}
