import { eq } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { actionsTasks } from '../../../db/schema/actions.ts'
import { within } from '../../kernel/within.ts'
import { readChunks } from './logs.ts'
import type { News } from './news.ts'

/** Where a reader is: so many lines of the chunk at this row, and all before it, were sent. */
export interface LogPlace {
  row: number
  lines: number
}

/** A silent connection is taken for a dead one by proxies. Each time it is looked for what no news have told, too. */
const SILENT_MS = 15_000
/** A log that grows fast is looked at no more often. */
const PAUSE_MS = 250
const LINES_AT_ONCE = 500

export interface Followed {
  taskId: number
  news: News
  /** Where the reader begins. */
  from: LogPlace
  /** Fires when nobody reads any more, or shall. */
  over: AbortSignal
}

/** The rows of a log as they are stored, as server-sent events, until the task has ended. */
export async function* followLog(db: Db, { taskId, news, from, over }: Followed): AsyncGenerator<string> {
  const stopped = new Promise<void>((resolve) => over.addEventListener('abort', () => resolve(), { once: true }))
  const place = { ...from }
  yield 'retry: 3000\n\n'
  while (!over.aborted) {
    const more = news.next()
    const task = await findTask(db, taskId)
    yield* newRows(db, taskId, place)
    if (task?.status !== 'in_progress') {
      yield `id: ${endId(taskId)}\nevent: end\ndata: ${task?.conclusion ?? ''}\n\n`
      return
    }
    if (!(await within(SILENT_MS, Promise.race([more, stopped])))) yield ':\n\n'
    else await within(PAUSE_MS, stopped)
  }
}

async function findTask(db: Db, id: number) {
  const [task] = await db
    .select({ status: actionsTasks.status, conclusion: actionsTasks.conclusion })
    .from(actionsTasks)
    .where(eq(actionsTasks.id, id))
  return task
}

/** What is stored behind the place, which moves on. */
async function* newRows(db: Db, taskId: number, place: LogPlace): AsyncGenerator<string> {
  for await (const { firstRow, bytes } of readChunks(db, taskId, place.row)) {
    const lines = new TextDecoder().decode(bytes).split('\n').slice(0, -1)
    const first = firstRow === place.row ? place.lines : 0
    for (let at = first; at < lines.length; at += LINES_AT_ONCE) {
      const some = lines.slice(at, at + LINES_AT_ONCE)
      yield some.map((line, index) => `id: ${taskId}:${firstRow}:${at + index + 1}\ndata: ${line}\n\n`).join('')
    }
    place.row = firstRow + 1
    place.lines = 0
  }
}

const endId = (taskId: number): string => `${taskId}:end`

/**
 * Where a reader goes on who had the event with this id last: at the beginning for that of another attempt.
 * Undefined for one who had the end.
 */
export function placeAfter(taskId: number, lastEventId: string | null): LogPlace | undefined {
  if (lastEventId === endId(taskId)) return undefined
  const [, task, row, lines] = /^(\d{1,15}):(\d{1,9}):(\d{1,9})$/.exec(lastEventId ?? '') ?? []
  return Number(task) === taskId ? { row: Number(row), lines: Number(lines) } : { row: 0, lines: 0 }
}
