import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { and, asc, eq, gte, sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { type ActionsTaskRow, actionsLogChunks, actionsTasks } from '../../../db/schema/actions.ts'
import { logChannelOf } from './channel.ts'

const pack = promisify(gzip)
const unpack = promisify(gunzip)

interface NewRows {
  /** Each with its time before it, without a line break. */
  lines: readonly string[]
  /** Rows that are counted: more than `lines` where some were dropped, fewer where the server adds words of its own. */
  rowCount: number
  /** Bytes of these. */
  byteCount: number
  isComplete: boolean
}

/**
 * Adds rows behind those that are stored.
 * @returns how many are stored now; undefined when another request has stored some meanwhile
 */
export async function appendLog(
  db: Db,
  { id, logRows }: Pick<ActionsTaskRow, 'id' | 'logRows'>,
  { lines, rowCount, byteCount, isComplete }: NewRows,
  lastSeenAt: Date,
): Promise<number | undefined> {
  const packed = lines.length === 0 ? undefined : await pack(lines.map((line) => `${line}\n`).join(''))
  return db.transaction(async (tx) => {
    const [row] = await tx
      .update(actionsTasks)
      .set({
        logRows: logRows + rowCount,
        logBytes: sql`${actionsTasks.logBytes} + ${byteCount}`,
        lastSeenAt,
        ...(isComplete ? { isLogComplete: true, masks: null } : {}),
      })
      .where(and(eq(actionsTasks.id, id), eq(actionsTasks.logRows, logRows), eq(actionsTasks.isLogComplete, false)))
      .returning({ logRows: actionsTasks.logRows })
    if (!row) return undefined
    if (packed) await tx.insert(actionsLogChunks).values({ taskId: id, firstRow: logRows, rowCount, lines: packed })
    await wakeFollowers(tx, id)
    return row.logRows
  })
}

/** Rows as they came, packed no longer. */
interface LogChunk {
  firstRow: number
  bytes: Uint8Array
}

/** The log of a task from a row on, chunk by chunk. */
export async function* readChunks(db: Db, taskId: number, row = 0): AsyncGenerator<LogChunk> {
  let next = row
  for (;;) {
    const [chunk] = await db
      .select()
      .from(actionsLogChunks)
      .where(and(eq(actionsLogChunks.taskId, taskId), gte(actionsLogChunks.firstRow, next)))
      .orderBy(asc(actionsLogChunks.firstRow))
      .limit(1)
    if (!chunk) return
    next = chunk.firstRow + 1
    yield { firstRow: chunk.firstRow, bytes: await unpack(chunk.lines) }
  }
}

/** The whole log of a task. */
export async function* readLog(db: Db, taskId: number): AsyncGenerator<Uint8Array> {
  for await (const { bytes } of readChunks(db, taskId)) yield bytes
}

/** Wakes who follows the log, once the transaction has ended. */
export async function wakeFollowers(tx: Db, taskId: number): Promise<void> {
  await tx.execute(sql`select pg_notify(${logChannelOf(taskId)}::text, '')`)
}
