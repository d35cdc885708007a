import { and, eq, sql } from 'drizzle-orm'
import { anyOf } from '../../../db/any-of.ts'
import type { Db } from '../../../db/client.ts'
import { type LfsObjectRow, lfsObjects, repositoryLfsObjects } from '../../../db/schema/lfs.ts'
import { repositories } from '../../../db/schema/repositories.ts'
import { users } from '../../../db/schema/users.ts'
import type { SiteRules } from '../../access/decide.ts'
import { unitSwitch } from '../../access/unit-switch.ts'
import { visibleTo } from '../../access/visible.ts'
import type { Actor } from '../../auth/actor.ts'

const ofRepository = (repositoryId: number) => eq(repositoryLfsObjects.repositoryId, repositoryId)

/** Of these objects, those that the repository has, by their oid. */
export async function findHeld(
  db: Db,
  repositoryId: number,
  oids: readonly string[],
): Promise<Map<string, LfsObjectRow>> {
  const rows = await db
    .select({ object: lfsObjects })
    .from(lfsObjects)
    .innerJoin(repositoryLfsObjects, eq(repositoryLfsObjects.objectId, lfsObjects.id))
    .where(and(ofRepository(repositoryId), anyOf(lfsObjects.oid, oids)))
  return new Map(rows.map(({ object }) => [object.oid, object]))
}

/**
 * The same for somebody who is about to push what stands for them: they are in use from now on. One statement decides, so that what was
 * removed as unused at this moment is not taken for being there.
 */
export async function useHeld(
  db: Db,
  { repositoryId, oids, now }: { repositoryId: number; oids: readonly string[]; now: Date },
): Promise<Map<string, number>> {
  const rows = await db
    .update(repositoryLfsObjects)
    .set({ usedAt: now })
    .from(lfsObjects)
    .where(
      and(ofRepository(repositoryId), eq(repositoryLfsObjects.objectId, lfsObjects.id), anyOf(lfsObjects.oid, oids)),
    )
    .returning({ oid: lfsObjects.oid, size: lfsObjects.sizeBytes })
  return new Map(rows.map(({ oid, size }) => [oid, size]))
}

/** Of these objects, those that some repository has whose code the actor may read. The actor's token reaches all repositories. */
export function listReadable(
  db: Db,
  { site, actor, oids }: { site: SiteRules; actor: Actor; oids: readonly string[] },
): Promise<LfsObjectRow[]> {
  const readable = db
    .select({ one: sql`1` })
    .from(repositoryLfsObjects)
    .innerJoin(repositories, eq(repositories.id, repositoryLfsObjects.repositoryId))
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .where(
      and(
        eq(repositoryLfsObjects.objectId, lfsObjects.id),
        unitSwitch['repo.code'],
        visibleTo(site, actor, 'repo.code'),
      ),
    )
  return db
    .select()
    .from(lfsObjects)
    .where(and(anyOf(lfsObjects.oid, oids), sql`exists (${readable})`))
}

/** The row of a content, made if there is none; it stays until the transaction ends. */
export async function holdObject(tx: Db, object: typeof lfsObjects.$inferInsert): Promise<LfsObjectRow> {
  const [row] = await tx
    .insert(lfsObjects)
    .values(object)
    // Written anew as it is: that locks it, and of a row that is being removed another one is made.
    .onConflictDoUpdate({ target: lfsObjects.oid, set: { oid: sql`excluded.oid` } })
    .returning()
  if (!row) throw new Error('insert returned no row')
  return row
}

/** Gives a repository these objects. Returns the ids of those that are there. */
export async function linkObjects(
  tx: Db,
  { repositoryId, objectIds, now }: { repositoryId: number; objectIds: readonly number[]; now: Date },
): Promise<Set<number>> {
  const rows = await tx.execute<{ id: number }>(sql`
    insert into ${repositoryLfsObjects} (repository_id, object_id, used_at)
    select ${repositoryId}::bigint, held.id, ${now.toISOString()}::text::timestamptz
    from (select ${lfsObjects.id} from ${lfsObjects} where ${anyOf(lfsObjects.id, objectIds)} for key share) as held
    on conflict (repository_id, object_id) do update set used_at = excluded.used_at
    returning object_id as id`)
  return new Set(rows.map(({ id }) => Number(id)))
}

/** Gives a repository all that another one has: a fork, or one made from a template. */
export async function copyLfsObjects(
  tx: Db,
  { from, to, now }: { from: number; to: number; now: Date },
): Promise<void> {
  await tx.execute(sql`
    insert into ${repositoryLfsObjects} (repository_id, object_id, used_at)
    select ${to}::bigint, object_id, ${now.toISOString()}::text::timestamptz
    from ${repositoryLfsObjects} where repository_id = ${from} on conflict do nothing`)
}
