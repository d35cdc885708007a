import { and, eq, sql } from 'drizzle-orm'
import { errors, jwtVerify, SignJWT } from 'jose'
import { prepared } from '../../db/client.ts'
import { actionsJobs, actionsTasks } from '../../db/schema/actions.ts'
import type { Context } from '../context.ts'

/** The task that a runtime token speaks for. */
export interface RuntimeTask {
  taskId: number
  jobId: number
  runId: number
  repositoryId: number
  /** The attempt of the run that the job is of. */
  runAttempt: number
}

interface NewTask {
  runId: number
  jobId: number
  /** Which attempt at the job it is, from 1. */
  attempt: number
  /** The most that the job may take. */
  timeoutMinutes: number
}

const ALGORITHM = 'HS256'
const AUDIENCE = 'actions runtime'
/** A runner ends a job in its time, and still sends what it has. */
const GRACE_SECONDS = 3600

/**
 * What a job shows to the services of runs, such as that of artifacts: ACTIONS_RUNTIME_TOKEN. Its task is named by job and attempt, so that
 * it can be made before the task.
 */
export function makeRuntimeToken(
  context: Context,
  { runId, jobId, attempt, timeoutMinutes }: NewTask,
): Promise<string> {
  const now = Math.floor(context.clock.now().getTime() / 1000)
  // Wire: @actions/artifact reads run and job from `scp`.
  return new SignJWT({ scp: `Actions.Results:${runId}:${jobId}`, job: jobId, attempt })
    .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
    .setAudience(AUDIENCE)
    .setIssuedAt(now)
    .setExpirationTime(now + Math.ceil(timeoutMinutes * 60) + GRACE_SECONDS)
    .sign(keyOf(context))
}

/** Undefined for a token that this instance has not made, and once the task has ended. */
export async function findRuntimeTask(context: Context, token: string): Promise<RuntimeTask | undefined> {
  const claims = await verify(context, token)
  if (typeof claims?.job !== 'number' || typeof claims.attempt !== 'number') return undefined
  const [task] = await byAttempt(context.db).execute({ jobId: claims.job, attempt: claims.attempt })
  return task
}

async function verify(context: Context, token: string): Promise<Record<string, unknown> | undefined> {
  const rule = { algorithms: [ALGORITHM], audience: AUDIENCE, currentDate: context.clock.now() }
  try {
    return (await jwtVerify(token, keyOf(context), rule)).payload
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined
    throw error
  }
}

const keyOf = ({ secrets }: Context): Uint8Array => secrets.sign('actions runtime token', 'key')

/** As with the other token of a job nothing is cached: with the end of the task every replica refuses it. */
const byAttempt = prepared((db) =>
  db
    .select({
      taskId: actionsTasks.id,
      jobId: actionsJobs.id,
      runId: actionsJobs.runId,
      repositoryId: actionsJobs.repositoryId,
      runAttempt: actionsJobs.runAttempt,
    })
    .from(actionsTasks)
    .innerJoin(actionsJobs, eq(actionsJobs.id, actionsTasks.jobId))
    .where(
      and(
        eq(actionsTasks.jobId, sql.placeholder('jobId')),
        eq(actionsTasks.attempt, sql.placeholder('attempt')),
        eq(actionsTasks.status, 'in_progress'),
      ),
    )
    .prepare('runtime_task'),
)
