import { and, asc, eq, sql } from 'drizzle-orm'
import { arrayOf } from '../../../db/any-of.ts'
import type { Db } from '../../../db/client.ts'
import {
  type ActionsJobPlan,
  type ActionsJobRow,
  type ActionsRunnerRow,
  actionsJobs,
  actionsRunners,
  actionsTasks,
} from '../../../db/schema/actions.ts'
import { repositories } from '../../../db/schema/repositories.ts'
import { makeJobToken } from '../../auth/job-tokens.ts'
import { makeRuntimeToken } from '../../auth/runtime-tokens.ts'
import type { Context } from '../../context.ts'
import { sha256Hex } from '../../kernel/hashing.ts'
import { placeOf } from './place.ts'
import { type GivenSecrets, openSecrets } from './secrets.ts'
import { type LoadedRun, loadRun } from './store.ts'
import { endWaitingJobs, planAgain, startJob } from './transitions.ts'

/** A job that a runner has got. */
export interface ClaimedJob extends LoadedRun {
  taskId: number
  job: ActionsJobRow
  plan: ActionsJobPlan
  payload: string
  token: string
  runtimeToken: string
  secrets: Record<string, string>
}

/** Gives the oldest queued job that the runner may have and has the labels for to it, and to nobody else. */
export async function claimJob(context: Context, { id }: ActionsRunnerRow): Promise<ClaimedJob | undefined> {
  return context.db.transaction(async (tx) => {
    const runner = await holdRunner(tx, id)
    const job = runner && (await takeQueued(tx, runner))
    const loaded = job && (await loadRun(tx, job.runId))
    if (!runner || !loaded || job.plan === null || job.payload === null) return undefined
    const { plan, payload } = job
    const at = { tx, place: placeOf(context, loaded), now: context.clock.now() }
    const token = makeJobToken()
    const runtimeToken = await makeRuntimeToken(context, {
      ...{ runId: job.runId, jobId: job.id, attempt: job.attempt + 1 },
      timeoutMinutes: plan.timeoutMinutes,
    })
    const given = await openSecrets(context, tx, { repository: loaded.repository, plan, token, runtimeToken })
    if (given.problem !== undefined) {
      await endWaitingJobs(at, [job.id], { conclusion: 'failure', error: given.problem })
      await planAgain(tx, job.runId)
      return undefined
    }
    const started = await startJob(at, job, newTask(context, { runner, plan, token, given, now: at.now }))
    return { ...loaded, ...started, plan, payload, token, runtimeToken, secrets: given.secrets }
  })
}

function newTask(
  { secrets }: Context,
  {
    runner,
    plan,
    token,
    given,
    now,
  }: { runner: ActionsRunnerRow; plan: ActionsJobPlan; token: string; given: GivenSecrets; now: Date },
) {
  return {
    ...{ runnerId: runner.id, runnerName: runner.name, tokenHash: sha256Hex(token) },
    masks: secrets.seal('actions masks', JSON.stringify(given.masks)),
    steps: plan.steps.map((name) => ({ ...NEW_STEP, name })),
    ...{ startedAt: now, lastSeenAt: now },
  }
}

const NEW_STEP = {
  status: 'queued' as const,
  conclusion: null,
  startedAt: null,
  completedAt: null,
  logIndex: 0,
  logLength: 0,
}

/** Undefined for a runner that gets nothing: gone, disabled, or made for one job that it has had. */
async function holdRunner(tx: Db, id: number): Promise<ActionsRunnerRow | undefined> {
  const byId = tx.select().from(actionsRunners).where(eq(actionsRunners.id, id))
  const [runner] = await byId
  if (!runner || runner.isDisabled) return undefined
  if (!runner.isEphemeral) return runner
  // Of requests at the same instant one gets a job.
  await byId.for('update')
  return (await tx.$count(actionsTasks, eq(actionsTasks.runnerId, id))) === 0 ? runner : undefined
}

async function takeQueued(
  tx: Db,
  { labels, repositoryId, ownerId }: ActionsRunnerRow,
): Promise<ActionsJobRow | undefined> {
  const bare = labels.map((label) => label.split(':')[0] ?? '')
  const ofOwner =
    ownerId === null
      ? undefined
      : sql`${actionsJobs.repositoryId} in (select ${repositories.id} from ${repositories} where ${repositories.ownerId} = ${ownerId})`
  const [job] = await tx
    .select()
    .from(actionsJobs)
    .where(
      and(
        eq(actionsJobs.status, 'queued'),
        sql`${actionsJobs.labels} <@ ${arrayOf(bare)}::text[]`,
        repositoryId === null ? ofOwner : eq(actionsJobs.repositoryId, repositoryId),
      ),
    )
    .orderBy(asc(actionsJobs.id))
    .limit(1)
    .for('update', { skipLocked: true })
  return job
}
