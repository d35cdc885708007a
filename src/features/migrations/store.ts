import { and, asc, eq, isNull, sql } from 'drizzle-orm'
import { anyOf } from '../../../db/any-of.ts'
import type { Db } from '../../../db/client.ts'
import {
  type MigrationPartRow,
  type MigrationRow,
  migrationItems,
  migrationParts,
  migrations,
  type PartName,
} from '../../../db/schema/migrations.ts'
import { type RepositoryRow, repositories } from '../../../db/schema/repositories.ts'
import { type UserRow, users } from '../../../db/schema/users.ts'
import { enqueueJobs } from '../../jobs/enqueue.ts'

export async function insertMigration(
  tx: Db,
  migration: typeof migrations.$inferInsert,
  parts: readonly PartName[],
): Promise<void> {
  await tx.insert(migrations).values(migration)
  const { repositoryId } = migration
  if (parts.length > 0)
    await tx.insert(migrationParts).values(parts.map((name, place) => ({ repositoryId, name, place })))
}

export async function findMigration(db: Db, repositoryId: number): Promise<MigrationRow | undefined> {
  const [row] = await db.select().from(migrations).where(eq(migrations.repositoryId, repositoryId))
  return row
}

export async function updateMigration(tx: Db, repositoryId: number, change: Partial<MigrationRow>): Promise<void> {
  await tx.update(migrations).set(change).where(eq(migrations.repositoryId, repositoryId))
}

export const listParts = (db: Db, repositoryId: number): Promise<MigrationPartRow[]> =>
  db
    .select()
    .from(migrationParts)
    .where(eq(migrationParts.repositoryId, repositoryId))
    .orderBy(asc(migrationParts.place))

/** The first that is not whole. */
export async function findOpenPart(db: Db, repositoryId: number): Promise<MigrationPartRow | undefined> {
  const [row] = await db
    .select()
    .from(migrationParts)
    .where(and(eq(migrationParts.repositoryId, repositoryId), isNull(migrationParts.endedAt)))
    .orderBy(asc(migrationParts.place))
    .limit(1)
  return row
}

/** Only from the page that was read: false when another attempt has written it. */
export async function updatePart(
  tx: Db,
  { repositoryId, name, page }: Pick<MigrationPartRow, 'repositoryId' | 'name' | 'page'>,
  change: Partial<MigrationPartRow>,
): Promise<boolean> {
  const isThis = and(
    eq(migrationParts.repositoryId, repositoryId),
    eq(migrationParts.name, name),
    eq(migrationParts.page, page),
  )
  const rows = await tx.update(migrationParts).set(change).where(isThis).returning({ name: migrationParts.name })
  return rows.length > 0
}

/** The repository, which is not deleted before the transaction ends, and who asked for it. Undefined when it is gone. */
export async function holdRepository(
  tx: Db,
  { repositoryId, doerId }: Pick<MigrationRow, 'repositoryId' | 'doerId'>,
): Promise<{ repository: RepositoryRow; doer: UserRow | undefined } | undefined> {
  const [repository] = await tx.select().from(repositories).where(eq(repositories.id, repositoryId)).for('key share')
  if (!repository) return undefined
  const [doer] = doerId === null ? [] : await tx.select().from(users).where(eq(users.id, doerId))
  return { repository, doer }
}

interface Kind {
  repositoryId: number
  part: (typeof migrationItems.$inferSelect)['part']
}

/** Ids here by ids there, of those that have come. */
export async function findItems(
  tx: Db,
  { repositoryId, part }: Kind,
  idsThere: Iterable<number>,
): Promise<Map<number, number | null>> {
  const rows = await tx
    .select()
    .from(migrationItems)
    .where(
      and(
        eq(migrationItems.repositoryId, repositoryId),
        eq(migrationItems.part, part),
        anyOf(migrationItems.idThere, idsThere),
      ),
    )
  return new Map(rows.map(({ idThere, idHere }) => [idThere, idHere]))
}

/** Fails where one of them has come before. */
export async function insertItems(
  tx: Db,
  { repositoryId, part }: Kind,
  ids: readonly { idThere: number; idHere: number | null }[],
): Promise<void> {
  await tx.execute(sql`
    insert into ${migrationItems} (repository_id, part, id_there, id_here)
    select ${repositoryId}::bigint, ${part}::text, "idThere", "idHere"
    from json_to_recordset(${JSON.stringify(ids)}::text::json) as given("idThere" bigint, "idHere" bigint)`)
}

export async function removeItems(tx: Db, repositoryId: number): Promise<void> {
  await tx.delete(migrationItems).where(eq(migrationItems.repositoryId, repositoryId))
}

/** Migrations at once. */
const QUEUES = 4

/** Goes on with them, now or later. One waits at most. */
export async function enqueueImports(
  tx: Db,
  repositoryIds: readonly number[],
  { runAt }: { runAt?: Date } = {},
): Promise<void> {
  const specs = [...new Set(repositoryIds)]
    .sort((one, other) => one - other)
    .map((repositoryId) => ({
      payload: { repositoryId },
      queue: `migrations:${repositoryId % QUEUES}`,
      key: `migrations.import:${String(repositoryId).padStart(16, '0')}`,
      ...(runAt && { runAt }),
    }))
  await enqueueJobs(tx, 'migrations.import', specs)
}

/** Of these repositories those that take something over. */
export async function listMigrating(db: Db, repositoryIds: readonly number[]): Promise<number[]> {
  const rows = await db
    .select({ id: migrations.repositoryId })
    .from(migrations)
    .where(and(anyOf(migrations.repositoryId, repositoryIds), isNull(migrations.endedAt)))
  return rows.map(({ id }) => id)
}
