import type { Db } from '../../../db/client.ts'
import type { ActionsJobRow, ActionsRunRow } from '../../../db/schema/actions.ts'
import { commitStatuses, type StatusState } from '../../../db/schema/statuses.ts'
import { appendEvents } from '../../events/append.ts'
import { MAX_STATUS_CONTEXT } from './limits.ts'

/** Where a run belongs: what its statuses and events are written under. */
export interface RunPlace {
  run: Pick<
    ActionsRunRow,
    'id' | 'repositoryId' | 'event' | 'ref' | 'headSha' | 'workflowName' | 'attempt' | 'triggerActorId'
  >
  ownerId: number
  /** Of the repository's page. */
  htmlUrl: string
}

/** Wire: events that say something of a commit. */
const TELLING: ReadonlySet<string> = new Set(['push', 'release'])

interface Said {
  context: string
  state: StatusState
  description: string
  targetUrl: string
}

/** Says on the commit what has become of jobs, in the transaction that made it so. */
export async function writeJobStatuses(
  tx: Db,
  place: RunPlace,
  jobs: readonly ActionsJobRow[],
  now: Date,
): Promise<void> {
  const { run, htmlUrl } = place
  await write(
    tx,
    place,
    jobs.map((job) => ({
      ...wordsOf(job),
      context: contextOf(place, job),
      targetUrl: `${htmlUrl}/actions/runs/${run.id}/jobs/${job.id}`,
    })),
    now,
  )
}

/** The same of jobs in whose place there are others now: nobody is to wait for them. */
export const writeReplacedStatuses = (
  tx: Db,
  place: RunPlace,
  jobs: readonly ActionsJobRow[],
  now: Date,
): Promise<void> =>
  write(
    tx,
    place,
    jobs.map((job) => ({
      ...{ state: 'skipped' as const, description: 'Replaced by the jobs that it stood for' },
      context: contextOf(place, job),
      targetUrl: `${place.htmlUrl}/actions/runs/${place.run.id}`,
    })),
    now,
  )

/** Wire: what protections of branches name. */
const contextOf = ({ run }: RunPlace, { name }: ActionsJobRow): string => `${run.workflowName} / ${name} (${run.event})`

/** The same of a run that cannot be planned. */
export const writeProblemStatus = (tx: Db, place: RunPlace, problem: string, now: Date): Promise<void> =>
  write(tx, place, [ofRun(place, { state: 'failure', description: problem })], now)

/** A run with a problem is tried again: its jobs speak for it now. */
export const writeForgottenProblem = (tx: Db, place: RunPlace, now: Date): Promise<void> =>
  write(tx, place, [ofRun(place, { state: 'skipped', description: 'Tried again' })], now)

const ofRun = ({ run, htmlUrl }: RunPlace, said: Pick<Said, 'state' | 'description'>): Said => ({
  ...said,
  context: `${run.workflowName} (${run.event})`,
  targetUrl: `${htmlUrl}/actions/runs/${run.id}`,
})

async function write(tx: Db, { run, ownerId }: RunPlace, said: readonly Said[], now: Date): Promise<void> {
  const { repositoryId, event, headSha: sha } = run
  if (!TELLING.has(event) || said.length === 0) return
  const rows = await tx
    .insert(commitStatuses)
    .values(
      said.map(({ context, ...one }) => ({
        ...one,
        context: context.slice(0, MAX_STATUS_CONTEXT),
        repositoryId,
        sha,
        createdAt: now,
      })),
    )
    .returning()
  const events = rows.map(({ id: statusId, state, context, description, targetUrl }) => {
    const payload = { statusId, sha, state, context, description, targetUrl, createdAt: now.toISOString() }
    return { kind: 'status.created' as const, actorId: null, repositoryId, ownerId, payload }
  })
  await appendEvents(tx, events)
}

/** Wire: the sentences of the Gitea API's servers. */
function wordsOf(job: ActionsJobRow): Pick<Said, 'state' | 'description'> {
  if (job.status === 'blocked') return { state: 'pending', description: 'Blocked by required conditions' }
  if (job.status === 'queued') return { state: 'pending', description: 'Waiting to run' }
  if (job.status === 'in_progress') return { state: 'pending', description: 'Has started running' }
  if (job.error !== null) return { state: 'failure', description: job.error }
  switch (job.conclusion) {
    case 'success':
      return { state: 'success', description: `Successful in ${durationOf(job)}` }
    case 'skipped':
      return { state: 'skipped', description: 'Has been skipped' }
    case 'cancelled':
      return { state: 'failure', description: 'Has been cancelled' }
    default:
      return { state: 'failure', description: `Failing after ${durationOf(job)}` }
  }
}

function durationOf({ startedAt, completedAt }: ActionsJobRow): string {
  const seconds = startedAt && completedAt ? Math.max(0, Math.round((+completedAt - +startedAt) / 1000)) : 0
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
  return `${hours > 0 ? `${hours}h` : ''}${hours + minutes > 0 ? `${minutes}m` : ''}${seconds % 60}s`
}
