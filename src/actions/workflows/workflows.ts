import { createThreadPool, ThreadTimeout } from '../../threads/pool.ts'
import { locateProgram } from '../../threads/programs.ts'
import type { ReadMatch, TriggerEvent } from './match.ts'
import type { ScheduleEntry, Workflow } from './model.ts'
import type { PlanContexts, ReadPlan, ReadyJob, WorkflowFamily } from './plan-model.ts'
import { describeProblem, type WorkflowProblem } from './problems.ts'
import type { ReadWorkflow } from './read.ts'
import type { WorkflowAnswer, WorkflowTask } from './workflow-worker.ts'

/** Everything that works on files of strangers, in threads. Each function may throw ThreadsBusy: the same may go well later. */
export interface Workflows {
  /** As `readWorkflow`; too much work is an error of the file. */
  read(text: string, path: string): Promise<ReadWorkflow>
  /** As `matches`; too much work is an error of the workflow. */
  match(workflow: Pick<Workflow, 'on'>, event: TriggerEvent): Promise<ReadMatch>
  /** As `planJobs`; too much work is an error of the workflow. */
  plan(family: WorkflowFamily, contexts: PlanContexts): Promise<ReadPlan>
  /** As `writePayload`. */
  writePayload(workflow: Workflow, job: ReadyJob): Promise<string>
  /** As `nextTime`, for each of them. */
  nextTimes(schedules: readonly ScheduleEntry[], after: Date): Promise<(Date | undefined)[]>
  /** Ends the threads. */
  stop(): void
}

/** An ordinary file takes 5 to 20 ms; the worst that the limits allow, on a busy machine, must end before this. */
const DEADLINE_MS = 10_000

export function createWorkflows({ deadlineMs = DEADLINE_MS } = {}): Workflows {
  const pool = createThreadPool<WorkflowTask, WorkflowAnswer>({
    program: locateProgram('actions/workflows/workflow-worker.ts'),
    threads: 1,
    deadlineMs,
    maxWaiting: 1000,
    maxWaitMs: 60_000,
  })
  const run = async (task: WorkflowTask): Promise<WorkflowAnswer | undefined> => {
    try {
      return await pool.run(task)
    } catch (error) {
      if (error instanceof ThreadTimeout) return undefined
      throw error
    }
  }
  return {
    async read(text, path) {
      const answer = await run({ kind: 'read', text, path })
      return answer?.kind === 'read' ? answer.read : { errors: [TOO_MUCH] }
    },
    async match({ on }, event) {
      const answer = await run({ kind: 'match', workflow: { on }, event })
      return answer?.kind === 'match' ? { isMatched: answer.isMatched } : { errors: [TOO_MUCH] }
    },
    async plan(family, contexts) {
      const answer = await run({ kind: 'plan', family, contexts })
      return answer?.kind === 'plan' ? answer.plan : { errors: [TOO_MUCH] }
    },
    async writePayload(workflow, job) {
      const answer = await run({ kind: 'payload', workflow, job })
      if (answer?.kind !== 'payload') throw new Error('a job could not be written for its runner in time')
      return answer.text
    },
    async nextTimes(schedules, after) {
      const answer = await run({ kind: 'next', schedules, after })
      if (answer?.kind !== 'next') throw new Error('it takes too long to work out when schedules are due')
      return answer.times
    },
    stop: () => pool.stop(),
  }
}

const TOO_MUCH: WorkflowProblem = describeProblem('It takes too long to work this out.', undefined)
