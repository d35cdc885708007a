import { and, eq, sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { hooks } from '../../../db/schema/hooks.ts'
import { labels } from '../../../db/schema/issues.ts'
import { teamMembers, teams } from '../../../db/schema/organizations.ts'
import { refs, type TipCommit } from '../../../db/schema/refs.ts'
import {
  collaborations,
  type NewRepository,
  type RepositoryRow,
  repositories,
  repositoryCounters,
  repositoryRedirects,
  watches,
} from '../../../db/schema/repositories.ts'
import { users } from '../../../db/schema/users.ts'
import { teamsReaching } from '../../access/reach.ts'
import type { LabelTemplate } from '../../templates/label-sets.ts'

/** The id was reserved before; every other default is the table's. An old name of another repository leads here no more. */
export async function insertRepository(
  tx: Db,
  { sizeBytes, ...row }: NewRepository & { id: number; sizeBytes: number },
): Promise<RepositoryRow> {
  const [inserted] = await tx.insert(repositories).overridingSystemValue().values(row).returning()
  if (inserted === undefined) throw new Error('insert returned no row')
  await updateSize(tx, inserted.id, sizeBytes)
  await endRedirect(tx, inserted)
  await copyDefaultHooks(tx, inserted.id)
  return inserted
}

/** Gives a new repository the hooks that the site has for such, each once however often this runs. */
async function copyDefaultHooks(tx: Db, repositoryId: number): Promise<void> {
  await tx.execute(sql`
    insert into ${hooks} (scope, repository_id, copied_from_id, type, name, url, sealed_url, content_type, http_method, settings, secret,
      authorization_header, events, branch_filter, is_active)
    select 'repository', repositories.id, given.id, given.type, given.name, given.url, given.sealed_url, given.content_type, given.http_method,
      given.settings, given.secret, given.authorization_header, given.events, given.branch_filter, given.is_active
    from ${hooks} as given join repositories on repositories.id = ${repositoryId}
    where given.scope = 'default' order by given.id
    on conflict do nothing`)
}

/** @param sizeBytes on disk, as measured just now */
export async function updateSize(db: Db, repositoryId: number, sizeBytes: number): Promise<void> {
  await db.update(repositoryCounters).set({ sizeBytes }).where(eq(repositoryCounters.repositoryId, repositoryId))
}

/** Called in the transaction that gives a repository its name: an old name of another one leads to that no more. */
export async function endRedirect(tx: Db, { ownerId, lowerName }: RepositoryRow): Promise<void> {
  await tx
    .delete(repositoryRedirects)
    .where(and(eq(repositoryRedirects.ownerId, ownerId), eq(repositoryRedirects.lowerName, lowerName)))
}

/** From now on the name that a repository has leads to it, whoever owns it and whatever it is called then. */
export async function insertRedirect(tx: Db, { id, ownerId, lowerName }: RepositoryRow): Promise<void> {
  await tx
    .insert(repositoryRedirects)
    .values({ ownerId, lowerName, repositoryId: id })
    .onConflictDoUpdate({
      target: [repositoryRedirects.ownerId, repositoryRedirects.lowerName],
      set: { repositoryId: id },
    })
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

/** Wire: who reaches a new repository of an organization by a team watches it from the beginning. */
export async function insertTeamWatches(tx: Db, repositoryId: number): Promise<void> {
  await tx.execute(sql`
    insert into ${watches} (user_id, repository_id)
    select distinct ${teamMembers.userId}, ${repositoryId}::bigint from ${teamMembers}
    where ${teamMembers.teamId} in (${teamsReaching(repositoryId)})
    on conflict do nothing`)
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
