import { and, asc, count, desc, eq, inArray, lte, type SQL, sql, sum } from 'drizzle-orm'
import { anyOf } from '../../../db/any-of.ts'
import type { Db } from '../../../db/client.ts'
import { actionsTasks } from '../../../db/schema/actions.ts'
import {
  type ActionsArtifactRow,
  actionsArtifacts as artifacts,
  actionsArtifactBlocks as blocks,
} from '../../../db/schema/actions-artifacts.ts'

/** An artifact of one attempt at a run. */
export interface ArtifactName {
  runId: number
  runAttempt: number
  name: string
}

const isCalled = ({ runId, runAttempt, name }: ArtifactName) =>
  and(eq(artifacts.runId, runId), eq(artifacts.runAttempt, runAttempt), eq(artifacts.name, name))

const isUploading = eq(artifacts.state, 'uploading')
const isFinalized = eq(artifacts.state, 'finalized')

/** Whether the job that sends it still runs. */
export const isTaskAtWork: SQL = sql`exists (
  select 1 from ${actionsTasks} where ${actionsTasks.id} = ${artifacts.taskId} and ${actionsTasks.status} = 'in_progress')`

/** Undefined where the name is taken. */
export async function insertArtifact(
  tx: Db,
  values: typeof artifacts.$inferInsert,
): Promise<ActionsArtifactRow | undefined> {
  const [row] = await tx.insert(artifacts).values(values).onConflictDoNothing().returning()
  return row
}

/** Removes what was begun under this name and will not be ended: by the same job, or by one that has ended. */
export async function removeBegun(tx: Db, called: ArtifactName, taskId: number): Promise<void> {
  const isAbandoned = sql`(${artifacts.taskId} = ${taskId}::bigint or not ${isTaskAtWork})`
  await tx.delete(artifacts).where(and(isCalled(called), isUploading, isAbandoned))
}

export const countOfAttempt = (db: Db, { runId, runAttempt }: Omit<ArtifactName, 'name'>): Promise<number> =>
  db.$count(artifacts, and(eq(artifacts.runId, runId), eq(artifacts.runAttempt, runAttempt)))

/** One that its job may still send to. `isHeld`: nobody else changes it until the transaction ends. */
export async function findUploading(db: Db, id: number, isHeld = false): Promise<ActionsArtifactRow | undefined> {
  const query = db
    .select()
    .from(artifacts)
    .where(and(eq(artifacts.id, id), isUploading, isTaskAtWork))
  const [row] = await (isHeld ? query.for('update') : query)
  return row
}

/** What a job has begun or made under a name. Held until the transaction ends. */
export async function holdOwn(tx: Db, called: ArtifactName, taskId: number): Promise<ActionsArtifactRow | undefined> {
  const [row] = await tx
    .select()
    .from(artifacts)
    .where(and(isCalled(called), eq(artifacts.taskId, taskId)))
    .for('update')
  return row
}

type Changes = Partial<typeof artifacts.$inferInsert>

export async function updateArtifact(tx: Db, id: number, changes: Changes): Promise<void> {
  await tx.update(artifacts).set(changes).where(eq(artifacts.id, id))
}

export interface Block {
  blockId: string
  storeKey: string
  sizeBytes: number
}

/** Puts a block in the place of what had its id. Returns how many there are, and their bytes. The artifact is held. */
export async function putBlock(tx: Db, artifactId: number, block: Block): Promise<{ count: number; bytes: number }> {
  const ofArtifact = eq(blocks.artifactId, artifactId)
  await tx.delete(blocks).where(and(ofArtifact, eq(blocks.blockId, block.blockId)))
  await tx.insert(blocks).values({ artifactId, ...block })
  const [all] = await tx
    .select({ count: count(), bytes: sum(blocks.sizeBytes).mapWith(Number) })
    .from(blocks)
    .where(ofArtifact)
  return { count: all?.count ?? 0, bytes: all?.bytes ?? 0 }
}

export async function listBlocks(db: Db, artifactId: number): Promise<Map<string, Block>> {
  const rows = await db.select().from(blocks).where(eq(blocks.artifactId, artifactId))
  return new Map(rows.map((row) => [row.blockId, row]))
}

export async function removeBlocks(tx: Db, artifactId: number): Promise<void> {
  await tx.delete(blocks).where(eq(blocks.artifactId, artifactId))
}

/** Most that a run tells of at once. Wire: @actions/artifact reads no more. */
const MAX_LISTED = 1000

/** The finalized artifacts of a run, of each name the newest: what was run again may have made it anew. */
export function listNewest(
  db: Db,
  runId: number,
  { name, id }: { name?: string | undefined; id?: number | undefined } = {},
): Promise<ActionsArtifactRow[]> {
  const isAsked = and(
    name === undefined ? undefined : eq(artifacts.name, name),
    id === undefined ? undefined : eq(artifacts.id, id),
  )
  return db
    .selectDistinctOn([artifacts.name])
    .from(artifacts)
    .where(and(eq(artifacts.runId, runId), isFinalized, isAsked))
    .orderBy(artifacts.name, desc(artifacts.id))
    .limit(MAX_LISTED)
}

/** False where it has gone already. */
export async function removeArtifact(db: Db, id: number): Promise<boolean> {
  return (await db.delete(artifacts).where(eq(artifacts.id, id)).returning({ id: artifacts.id })).length > 0
}

/** Of the keys those that rows name. */
export async function listKnownKeys(db: Db, keys: readonly string[]): Promise<ReadonlySet<string>> {
  const [whole, parts] = await Promise.all([
    db.select({ key: artifacts.storeKey }).from(artifacts).where(anyOf(artifacts.storeKey, keys)),
    db.select({ key: blocks.storeKey }).from(blocks).where(anyOf(blocks.storeKey, keys)),
  ])
  return new Set([...whole, ...parts].flatMap(({ key }) => (key === null ? [] : [key])))
}

export async function findFinalized(db: Db, id: number): Promise<ActionsArtifactRow | undefined> {
  const [row] = await db
    .select()
    .from(artifacts)
    .where(and(eq(artifacts.id, id), isFinalized))
  return row
}

/** Most that one statement changes. */
const BATCH = 500

/** Lets go of the bytes of what has expired. Returns how many, at most `BATCH`. */
export async function expireSome(db: Db, now: Date): Promise<number> {
  const due = db
    .select({ id: artifacts.id })
    .from(artifacts)
    .where(and(isFinalized, lte(artifacts.expiresAt, now)))
    .orderBy(asc(artifacts.expiresAt))
    .limit(BATCH)
  const rows = await db
    .update(artifacts)
    .set({ state: 'expired', storeKey: null, heldBytes: 0 })
    .where(and(inArray(artifacts.id, due), isFinalized))
    .returning({ id: artifacts.id })
  return rows.length
}

/** Removes what jobs have begun and not finished before their end. Returns how many, at most `BATCH`. */
export async function removeAbandoned(db: Db): Promise<number> {
  const isAbandoned = and(isUploading, sql`not ${isTaskAtWork}`)
  const some = db
    .select({ id: artifacts.id })
    .from(artifacts)
    .where(isAbandoned)
    .orderBy(asc(artifacts.id))
    .limit(BATCH)
  const rows = await db
    .delete(artifacts)
    .where(and(inArray(artifacts.id, some), isUploading))
    .returning({ id: artifacts.id })
  return rows.length
}
