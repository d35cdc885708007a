import type { Timestamp } from '@bufbuild/protobuf/wkt'
import type { HandlerContext } from '@connectrpc/connect'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { ActionsTaskRow } from '../../../db/schema/actions.ts'
import type { Context } from '../../context.ts'
import { conflict, notFound } from '../../kernel/errors.ts'
import { appendLog } from '../actions-runs/logs.ts'
import { hideMasked } from '../actions-runs/masks.ts'
import { findOwnTask } from '../actions-runs/tasks.ts'
import { requireRunner } from './caller.ts'
import type { LogRow, UpdateLogRequest } from './messages/runner_pb.js'

/**
 * Stores rows of a log. Those that are stored already are passed over; behind a gap nothing is stored, and the runner sends it again.
 * @returns how many rows are stored
 * @throws Refusal 401, 404 for another's task, 409 for two requests at once
 */
export async function updateLog(
  context: Context,
  { taskId, index, rows, noMore }: UpdateLogRequest,
  call: HandlerContext,
): Promise<number> {
  const runner = await requireRunner(context, call)
  const found = await findOwnTask(context.db, Number(taskId), runner.id)
  if (!found) throw notFound('task not found')
  const { task } = found
  const first = Number(index)
  if (task.isLogComplete || first > task.logRows) return task.logRows
  const fresh = rows.slice(task.logRows - first)
  if (fresh.length === 0 && !noMore) return task.logRows
  const lines = writeLines(context, task, fresh)
  const stored = await appendLog(
    context.db,
    task,
    { ...limit(context, task, lines), rowCount: fresh.length, isComplete: noMore },
    context.clock.now(),
  )
  if (stored === undefined) throw conflict('two requests told of the same rows')
  return stored
}

const Masks = Type.Array(Type.String())

function writeLines({ secrets }: Context, task: ActionsTaskRow, rows: readonly LogRow[]): string[] {
  const masks: unknown = task.masks === null ? [] : JSON.parse(secrets.open('actions masks', task.masks))
  if (!Value.Check(Masks, masks)) throw new Error('the masks of a task are no list of texts')
  return rows.map(({ time, content }) => `${writeTime(time)} ${hideMasked(oneLine(content), masks)}`)
}

/** Wire: a row is a line, so a break within it is written out. */
const oneLine = (content: string): string => content.replaceAll('\r', '').replaceAll('\n', '\\n')

/** Wire: seven digits of the second. */
function writeTime(time: Timestamp | undefined): string {
  const at = new Date(Number(time?.seconds ?? 0n) * 1000)
  const digits = String(time?.nanos ?? 0)
    .padStart(9, '0')
    .slice(0, 7)
  return Number.isNaN(at.getTime()) ? '' : `${at.toISOString().slice(0, 19)}.${digits}Z`
}

/** What is beyond MAX_ACTIONS_LOG_BYTES is dropped, and the log says so once. */
function limit({ config }: Context, { logBytes }: ActionsTaskRow, lines: string[]) {
  const most = config.maxActionsLogBytes
  let size = logBytes
  const fitting = lines.filter((line) => {
    size += Buffer.byteLength(line) + 1
    return size <= most
  })
  const isCut = logBytes <= most && size > most
  const note = isCut ? [`The log has more than ${most} bytes: the rest is left out.`] : []
  return { lines: [...fitting, ...note], byteCount: size - logBytes }
}
