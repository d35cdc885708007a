import type { ActionsConclusion, ActionsStep } from '../../../db/schema/actions.ts'
import type { Context } from '../../context.ts'
import { removeEphemeralRunner } from '../actions-runners/store.ts'
import { appendLog } from './logs.ts'
import type { LoadedTask } from './tasks.ts'
import { type End, endTask, type Transition } from './transitions.ts'

/**
 * Ends a task at work as its runner would have: its log is complete and says why. The run is locked, and the task too.
 */
export async function endForRunner(
  { log }: Pick<Context, 'log'>,
  at: Transition,
  { task }: Pick<LoadedTask, 'task'>,
  { conclusion, error, lastWord }: End & { lastWord: string },
): Promise<void> {
  const { tx, now } = at
  const lines = [`${now.toISOString().slice(0, -1)}0000Z ${lastWord}`]
  // Runners are told how many of their rows are stored, so this one is not counted. It also forgets the masks.
  await appendLog(tx, task, { lines, rowCount: 0, byteCount: 0, isComplete: true }, task.lastSeenAt)
  await endTask(at, { id: task.id, steps: endSteps(task.steps, conclusion, now) }, { conclusion, error })
  await removeEphemeralRunner(tx, task.runnerId)
  log.info({ taskId: task.id, runnerId: task.runnerId, reason: lastWord }, 'job ended for its runner')
}

/** The step at work ends as the job does; those after it never began. */
const endSteps = (steps: readonly ActionsStep[], conclusion: ActionsConclusion, now: Date): ActionsStep[] =>
  steps.map((step) => {
    if (step.status === 'completed') return step
    const ended = { ...step, status: 'completed' as const, completedAt: now.toISOString() }
    return { ...ended, conclusion: step.status === 'in_progress' ? conclusion : 'skipped' }
  })
