import { and, eq, not, sql } from 'drizzle-orm'
import { anyOf } from '../../../db/any-of.ts'
import type { Db } from '../../../db/client.ts'
import { pushes, refs } from '../../../db/schema/refs.ts'
import { type RepositoryRow, repositories, repositoryCounters } from '../../../db/schema/repositories.ts'
import type { Clock } from '../../kernel/time.ts'
import { fullName, parseRef, type RefName } from './names.ts'

/** Makes a push known before Git may move a ref; `syncRefs` with this id ends it. Returns the id. */
export async function insertPush(
  db: Db,
  push: { repositoryId: number; pusherId: number | null; newRefs?: number; isWiki?: boolean; clock: Clock },
): Promise<number> {
  const { repositoryId, pusherId, newRefs, isWiki, clock } = push
  const [row] = await db
    .insert(pushes)
    .values({ repositoryId, pusherId, newRefs, isWiki, createdAt: clock.now() })
    .returning({ id: pushes.id })
  if (row === undefined) throw new Error('insert returned no row')
  return row.id
}

export async function removePush(db: Db, id: number): Promise<void> {
  await db.delete(pushes).where(eq(pushes.id, id))
}

/** For a push that ended early and waits for the repair: what it has not made by now does not count towards MAX_REFS any more. */
export async function releaseNewRefs(db: Db, id: number): Promise<void> {
  await db.update(pushes).set({ newRefs: 0 }).where(eq(pushes.id, id))
}

/** Branches and tags that are there, and those that pushes under way may make. */
export async function countExpectedRefs(db: Db, repositoryId: number): Promise<number> {
  const [row] = await db
    .select({ expected: sql<number>`(count(*) + coalesce((${sumOfNewRefs(db, repositoryId)}), 0))::int` })
    .from(refs)
    .where(eq(refs.repositoryId, repositoryId))
  return row?.expected ?? 0
}

const sumOfNewRefs = (db: Db, repositoryId: number) =>
  db
    .select({ sum: sql`sum(${pushes.newRefs})` })
    .from(pushes)
    .where(and(eq(pushes.repositoryId, repositoryId), not(pushes.isWiki)))

/** Waits for others who change the repository, and keeps them waiting until the transaction ends. Undefined when it is gone. */
export async function lockRepository(tx: Db, id: number): Promise<RepositoryRow | undefined> {
  // `no key update`: rows that only refer to the repository may be inserted meanwhile.
  const [row] = await tx.select().from(repositories).where(eq(repositories.id, id)).for('no key update')
  return row
}

/** Undefined when the repository is gone. */
export async function findState(
  db: Db,
  id: number,
): Promise<{ generation: number; defaultBranch: string } | undefined> {
  const [row] = await db
    .select({ generation: repositoryCounters.refsGeneration, defaultBranch: repositories.defaultBranch })
    .from(repositories)
    .innerJoin(repositoryCounters, eq(repositoryCounters.repositoryId, repositories.id))
    .where(eq(repositories.id, id))
  return row
}

/** Makes everybody who has read refs or HEAD read them again. The caller holds the repository's lock. */
export async function raiseGeneration(tx: Db, id: number): Promise<void> {
  await tx
    .update(repositoryCounters)
    .set({ refsGeneration: sql`${repositoryCounters.refsGeneration} + 1` })
    .where(eq(repositoryCounters.repositoryId, id))
}

export type NewRef = typeof refs.$inferInsert

/** What the rows say each ref holds, by full name: all of them, or those of `only` that have a row. */
export async function loadRows(tx: Db, repositoryId: number, only?: readonly string[]): Promise<Map<string, string>> {
  const ofRepository = eq(refs.repositoryId, repositoryId)
  const columns = { kind: refs.kind, name: refs.name, sha: refs.sha }
  const rows = await tx
    .select(columns)
    .from(refs)
    .where(only === undefined ? ofRepository : and(ofRepository, named(only)))
  return new Map(rows.map((row) => [fullName(row), row.sha]))
}

/** The names as one array for each kind: thousands of them stay two parameters. */
function named(fullNames: readonly string[]) {
  const names = fullNames.map(parseRef).filter((name) => name !== undefined)
  const of = (kind: RefName['kind']) =>
    JSON.stringify(names.filter((name) => name.kind === kind).map(({ name }) => name))
  return sql`(${refs.kind}, ${refs.name}) in (
    select 'branch', jsonb_array_elements_text(${of('branch')}::text::jsonb)
    union all select 'tag', jsonb_array_elements_text(${of('tag')}::text::jsonb))`
}

/** Rows of one statement: ten parameters each, and a statement takes 65,535. */
const BATCH = 1000

export async function upsertRows(tx: Db, rows: readonly NewRef[]): Promise<void> {
  for (let at = 0; at < rows.length; at += BATCH) {
    await tx
      .insert(refs)
      .values(rows.slice(at, at + BATCH))
      .onConflictDoUpdate({
        target: [refs.repositoryId, refs.kind, refs.name],
        set: {
          sha: sql`excluded.sha`,
          commit: sql`excluded.commit`,
          committedAt: sql`excluded.committed_at`,
          pusherId: sql`excluded.pusher_id`,
          updatedAt: sql`excluded.updated_at`,
        },
      })
  }
}

export async function removeRows(tx: Db, repositoryId: number, fullNames: readonly string[]): Promise<void> {
  if (fullNames.length === 0) return
  await tx.delete(refs).where(and(eq(refs.repositoryId, repositoryId), named(fullNames)))
}

export async function hasBranch(tx: Db, repositoryId: number): Promise<boolean> {
  const isBranch = and(eq(refs.repositoryId, repositoryId), eq(refs.kind, 'branch'))
  const found = await tx.select({ name: refs.name }).from(refs).where(isBranch).limit(1)
  return found.length > 0
}

/** The first branch among `preferred` that has a row, else the first by name. */
export async function findAnyBranch(
  tx: Db,
  repositoryId: number,
  preferred: readonly string[],
): Promise<string | undefined> {
  const isBranch = and(eq(refs.repositoryId, repositoryId), eq(refs.kind, 'branch'))
  const wanted = [...new Set(preferred)].slice(0, BATCH)
  const found =
    wanted.length === 0
      ? []
      : await tx
          .select({ name: refs.name })
          .from(refs)
          .where(and(isBranch, anyOf(refs.name, wanted)))
  const names = new Set(found.map(({ name }) => name))
  const first = wanted.find((name) => names.has(name))
  if (first !== undefined) return first
  const [any] = await tx.select({ name: refs.name }).from(refs).where(isBranch).orderBy(refs.name).limit(1)
  return any?.name
}
