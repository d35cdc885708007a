import { timestampDate } from '@bufbuild/protobuf/wkt'
import type { HandlerContext } from '@connectrpc/connect'
import type { ActionsConclusion, ActionsStep, ActionsTaskRow } from '../../../db/schema/actions.ts'
import type { Context } from '../../context.ts'
import { badRequest, notFound } from '../../kernel/errors.ts'
import { removeEphemeralRunner } from '../actions-runners/store.ts'
import { placeOf } from '../actions-runs/place.ts'
import { findOwnTask, keepTaskState, type LoadedTask } from '../actions-runs/tasks.ts'
import { endTask, type LastWord } from '../actions-runs/transitions.ts'
import { requireRunner } from './caller.ts'
import type { StepState, TaskState, UpdateTaskRequest } from './messages/runner_pb.js'
import { conclusionOf } from './results.ts'

/** Of all outputs of a job together, in characters. */
const MAX_OUTPUTS = 1024 * 1024

/** The answer to the runner about its task. */
export interface TaskAnswer {
  task: ActionsTaskRow
  /** Null: it goes on. */
  conclusion: ActionsConclusion | null
  /** Names of the outputs that are stored. */
  outputs: string[]
}

/**
 * Stores what a runner reports of its task. Repeats change nothing, and reports after the end are ignored.
 * @throws Refusal 400, 401, 404 for another's task
 */
export async function updateTask(
  context: Context,
  { state, outputs: said }: UpdateTaskRequest,
  call: HandlerContext,
): Promise<TaskAnswer> {
  const runner = await requireRunner(context, call)
  if (!state) throw badRequest('missing state')
  const found = await findOwnTask(context.db, Number(state.id), runner.id)
  if (!found) throw notFound('task not found')
  const { task, job } = found
  if (task.status === 'completed') return finalAnswer(task)
  const outputs = addOutputs(task.outputs, said)
  const conclusion = conclude(conclusionOf(state.result), job.isCancelled)
  const word = { id: task.id, steps: readSteps(task.steps, state), outputs, lastSeenAt: context.clock.now() }
  const isKept =
    conclusion === null ? await keepTaskState(context.db, word) : await end(context, { found, conclusion, word })
  if (!isKept) return finalAnswer((await findOwnTask(context.db, task.id, runner.id))?.task ?? task)
  return { task, conclusion: conclusion ?? (job.isCancelled ? 'cancelled' : null), outputs: Object.keys(outputs) }
}

const finalAnswer = (task: ActionsTaskRow): TaskAnswer => ({
  task,
  conclusion: task.conclusion,
  outputs: Object.keys(task.outputs),
})

/** A job that was asked to end has been cancelled, unless it was done before. */
const conclude = (said: ActionsConclusion | null, isCancelled: boolean): ActionsConclusion | null =>
  isCancelled && said !== null && said !== 'success' ? 'cancelled' : said

interface End {
  found: LoadedTask
  conclusion: ActionsConclusion
  word: LastWord
}

/** False when it has ended meanwhile. */
async function end(context: Context, { found, conclusion, word }: End): Promise<boolean> {
  const { db, clock } = context
  return db.transaction(async (tx) => {
    const at = { tx, place: placeOf(context, found), now: clock.now() }
    if (!(await endTask(at, word, { conclusion }))) return false
    await removeEphemeralRunner(tx, found.task.runnerId)
    return true
  })
}

/** Too much is left out, and so is not among the names in the answer. */
function addOutputs(kept: Record<string, string>, said: Record<string, string>): Record<string, string> {
  const outputs = { ...kept }
  let size = JSON.stringify(kept).length
  for (const [name, value] of Object.entries(said)) {
    size += name.length + value.length
    if (size <= MAX_OUTPUTS && !`${name}${value}`.includes('\0')) outputs[name] = value
  }
  return outputs
}

/** Steps have the numbers of the file; others are none of this job. */
function readSteps(steps: readonly ActionsStep[], { steps: said }: TaskState): ActionsStep[] {
  const byNumber = new Map(said.map((one) => [Number(one.id), one]))
  return steps.map((step, number) => {
    const one = byNumber.get(number)
    return one ? { ...step, ...readStep(one) } : step
  })
}

function readStep({ result, startedAt, stoppedAt, logIndex, logLength }: StepState): Omit<ActionsStep, 'name'> {
  const conclusion = conclusionOf(result)
  return {
    status: conclusion !== null ? 'completed' : startedAt ? 'in_progress' : 'queued',
    conclusion,
    startedAt: startedAt ? timestampDate(startedAt).toISOString() : null,
    completedAt: stoppedAt ? timestampDate(stoppedAt).toISOString() : null,
    logIndex: Number(logIndex),
    logLength: Number(logLength),
  }
}
