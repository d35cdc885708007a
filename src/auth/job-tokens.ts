import { and, eq, sql } from 'drizzle-orm'
import { prepared } from '../../db/client.ts'
import { actionsJobs, actionsTasks } from '../../db/schema/actions.ts'
import type { Context } from '../context.ts'
import { randomHex, sha256Hex } from '../kernel/hashing.ts'
import type { Actor, JobCredential } from './actor.ts'
import { jobUser } from './job-user.ts'

/** The prefix distinguishes it from personal tokens, so that one statement finds it, and scanners find one that leaked. */
const PREFIX = 'gtj_'
const TOKEN_BYTES = 20

const PATTERN = new RegExp(`^${PREFIX}[0-9a-f]{${TOKEN_BYTES * 2}}$`)

/** Whether a text has the form of one, of a job that has ended too. */
export const isJobToken = (text: string): boolean => PATTERN.test(text)

export const makeJobToken = (): string => PREFIX + randomHex(TOKEN_BYTES)

/**
 * The areas of the API that know repositories. There is nothing of an account here: no profile, keys, notifications, organizations.
 */
const SCOPES = ['read:misc', 'read:issue', 'read:repository']

const columns = {
  taskId: actionsTasks.id,
  repositoryId: actionsJobs.repositoryId,
  permissions: sql<JobCredential['permissions']>`${actionsJobs.plan} -> 'permissions'`,
}

/** Only while the task is in progress: nothing is cached, so with its end every replica refuses the next request. */
const isRunning = eq(actionsTasks.status, 'in_progress')

const byHash = prepared((db) =>
  db
    .select(columns)
    .from(actionsTasks)
    .innerJoin(actionsJobs, eq(actionsJobs.id, actionsTasks.jobId))
    .where(and(eq(actionsTasks.tokenHash, sql.placeholder('hash')), isRunning))
    .prepare('job_by_token_hash'),
)

const byTask = prepared((db) =>
  db
    .select(columns)
    .from(actionsTasks)
    .innerJoin(actionsJobs, eq(actionsJobs.id, actionsTasks.jobId))
    .where(and(eq(actionsTasks.id, sql.placeholder('id')), isRunning))
    .prepare('job_by_task'),
)

/** The actor of the token that a runner got with its task; undefined once the task has ended. */
export async function findJobActor({ db }: Context, secret: string): Promise<Actor | undefined> {
  const [job] = await byHash(db).execute({ hash: sha256Hex(secret) })
  return job && actorOf(job)
}

/** The same for what was signed for a task, such as a token of Git LFS. */
export async function findActorOfTask({ db }: Context, id: number): Promise<Actor | undefined> {
  const [job] = await byTask(db).execute({ id })
  return job && actorOf(job)
}

const actorOf = (job: JobCredential): Actor => ({
  user: jobUser,
  method: 'job',
  scopes: SCOPES,
  tokenId: job.taskId,
  job,
  repositoryIds: [job.repositoryId],
  publicOnly: false,
})
