import type { Db } from '../../../db/client.ts'
import { type ActionsJobRow, type ActionsRunRow, type ActionsTaskRow, actionsRuns } from '../../../db/schema/actions.ts'
import { appendEvents } from '../../events/append.ts'
import type { EventPayload, NewEvent } from '../../events/catalogue.ts'
import type { RunPlace } from './statuses.ts'

/** What is told of a run: not the texts of its workflows. */
export const toldRunColumns = {
  id: actionsRuns.id,
  repositoryId: actionsRuns.repositoryId,
  number: actionsRuns.number,
  title: actionsRuns.title,
  workflowFile: actionsRuns.workflowFile,
  workflowName: actionsRuns.workflowName,
  workflowPath: actionsRuns.workflowPath,
  event: actionsRuns.event,
  ref: actionsRuns.ref,
  headSha: actionsRuns.headSha,
  status: actionsRuns.status,
  conclusion: actionsRuns.conclusion,
  actorId: actionsRuns.actorId,
  triggerActorId: actionsRuns.triggerActorId,
  startedAt: actionsRuns.startedAt,
  completedAt: actionsRuns.completedAt,
  chainLength: actionsRuns.chainLength,
  chainRootId: actionsRuns.chainRootId,
}
type ToldRun = Pick<ActionsRunRow, keyof typeof toldRunColumns>

/** Tells, in the transaction that made it so, what a run is now. */
export async function tellOfRun(
  tx: Db,
  { ownerId }: Pick<RunPlace, 'ownerId'>,
  kind: 'workflow_run.requested' | 'workflow_run.in_progress' | 'workflow_run.completed',
  run: ToldRun,
): Promise<void> {
  const { triggerActorId: actorId, repositoryId } = run
  await appendEvents(tx, [{ kind, actorId, repositoryId, ownerId, payload: runFacts(run) }])
}

function runFacts(run: ToldRun): EventPayload<'workflow_run.completed'> {
  const { number, title, workflowFile, workflowName, workflowPath, event, ref, headSha, status, conclusion } = run
  return {
    runId: run.id,
    ...{ number, title, workflowFile, workflowName, workflowPath, event, ref, headSha, status, conclusion },
    runActorId: run.actorId,
    startedAt: timeOf(run.startedAt),
    completedAt: timeOf(run.completedAt),
    chainLength: run.chainLength,
    chainRootId: run.chainRootId,
  }
}

/** The same of jobs. @param task of the runner that has them */
export async function tellOfJobs(
  tx: Db,
  { run, ownerId }: RunPlace,
  jobs: readonly ActionsJobRow[],
  task?: ActionsTaskRow,
): Promise<void> {
  const { triggerActorId: actorId, repositoryId } = run
  await appendEvents(
    tx,
    jobs.map((job): NewEvent => {
      const payload = { ...jobFacts(job, run), ...(task && { runner: runnerFacts(task) }) }
      return { kind: kindOf(job), actorId, repositoryId, ownerId, payload }
    }),
  )
}

const KINDS = {
  blocked: 'workflow_job.waiting',
  queued: 'workflow_job.queued',
  in_progress: 'workflow_job.in_progress',
  completed: 'workflow_job.completed',
} as const
const kindOf = ({ status }: ActionsJobRow) => KINDS[status]

function jobFacts(job: ActionsJobRow, { ref, headSha }: RunPlace['run']): EventPayload<'workflow_job.completed'> {
  const { id: jobId, runId, name, labels, attempt, status, conclusion } = job
  return {
    ...{ jobId, runId, name, labels, attempt, ref, headSha, status, conclusion },
    createdAt: job.createdAt.toISOString(),
    startedAt: timeOf(job.startedAt),
    completedAt: timeOf(job.completedAt),
  }
}

const runnerFacts = ({ runnerId, runnerName, steps }: ActionsTaskRow) => ({
  runnerId,
  runnerName,
  steps: steps.map(({ name, status, conclusion, startedAt, completedAt }) => {
    return { name, status, conclusion, startedAt, completedAt }
  }),
})

const timeOf = (at: Date | null): string | null => at?.toISOString() ?? null
