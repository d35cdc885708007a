// A thread for workflows: files and expressions of strangers can be made to work long.

import { serveTasks } from '../../threads/worker.ts'
import { matches, type TriggerEvent } from './match.ts'
import type { ScheduleEntry, Workflow } from './model.ts'
import { writePayload } from './payload.ts'
import { planJobs } from './plan.ts'
import type { PlanContexts, ReadPlan, ReadyJob, WorkflowFamily } from './plan-model.ts'
import { type ReadWorkflow, readWorkflow } from './read.ts'
import { nextTime } from './schedule.ts'

export type WorkflowTask =
  | { kind: 'read'; text: string; path: string }
  | { kind: 'match'; workflow: Pick<Workflow, 'on'>; event: TriggerEvent }
  | { kind: 'plan'; family: WorkflowFamily; contexts: PlanContexts }
  | { kind: 'payload'; workflow: Workflow; job: ReadyJob }
  | { kind: 'next'; schedules: readonly ScheduleEntry[]; after: Date }

export type WorkflowAnswer =
  | { kind: 'read'; read: ReadWorkflow }
  | { kind: 'match'; isMatched: boolean }
  | { kind: 'plan'; plan: ReadPlan }
  | { kind: 'payload'; text: string }
  | { kind: 'next'; times: (Date | undefined)[] }

async function run(task: WorkflowTask): Promise<WorkflowAnswer> {
  switch (task.kind) {
    case 'read':
      return { kind: 'read', read: await readWorkflow(task.text, task) }
    case 'match':
      return { kind: 'match', isMatched: matches(task.workflow, task.event) }
    case 'plan':
      return { kind: 'plan', plan: planJobs(task.family, task.contexts) }
    case 'payload':
      return { kind: 'payload', text: writePayload(task.workflow, task.job) }
    case 'next':
      return { kind: 'next', times: task.schedules.map((entry) => nextTime(entry, task.after)) }
  }
}

serveTasks<WorkflowTask, WorkflowAnswer>(run)
