import type { Static, TSchema } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'

/** What the queue knows of one kind of job. Every job may run more than once: its handler is idempotent. */
export interface JobDefinition<Payload extends TSchema = TSchema> {
  /** Checked when the job is handled; a payload that breaks it fails the job with the field in `lastError`. */
  payload: Payload
  /** The handler's signal fires after this long, and the attempt has failed. */
  deadlineSeconds: number
  /** Attempts before the job is retired; between them the queue waits e, e^2, ... e^10 seconds, give or take a fifth. */
  maxAttempts: number
  /** It waits for others' servers, and has places of its own: slow ones hold up no other job. */
  isOutbound: boolean
}

function job<Payload extends TSchema>(
  payload: Payload,
  { deadlineSeconds = 60, maxAttempts = 25, isOutbound = false }: Partial<Omit<JobDefinition, 'payload'>> = {},
): JobDefinition<Payload> {
  return { payload, deadlineSeconds, maxAttempts, isOutbound }
}

/**
 * Every job there is, by name. To add one, add a line here; the compiler then asks for its handler in the table that
 * src/app gives to `createJobs`. A name once released keeps its meaning: older replicas may still enqueue it.
 */
export const jobCatalogue = {
  // Plans a run again, and writes what that changes. See src/features/actions-runs.
  'actions.advance': job(Type.Object({ runId: Type.Integer() })),
  'account.recover': job(Type.Object({ sealed: Type.String() })),
  'cron.run': job(Type.Object({ task: Type.String() }), { deadlineSeconds: 6 * 3600, maxAttempts: 3 }),
  'events.react': job(Type.Object({ eventIds: Type.Array(Type.Integer()), reaction: Type.String() }), {
    deadlineSeconds: 300,
  }),
  // 25 attempts take about four days.
  'mail.send': job(Type.Object({ sealed: Type.String() }), { deadlineSeconds: 300 }),
  // One repository is brought up to the server that it mirrors, or one server up to a repository. Git's own deadline ends them sooner.
  'mirrors.pull': job(Type.Object({ repositoryId: Type.Integer() }), { deadlineSeconds: 24 * 3600, isOutbound: true }),
  // Some pages of what a repository takes over from another server; the next job goes on behind them.
  'migrations.import': job(Type.Object({ repositoryId: Type.Integer() }), {
    deadlineSeconds: 24 * 3600,
    isOutbound: true,
  }),
  'mirrors.push': job(Type.Object({ mirrorId: Type.Integer() }), { deadlineSeconds: 24 * 3600, isOutbound: true }),
  'repository.remove_folder': job(Type.Object({ repositoryId: Type.Integer() }), { deadlineSeconds: 3600 }),
  // Sends what waits for one hook. See src/webhooks.
  'webhooks.send': job(Type.Object({ hookId: Type.Integer() }), {
    deadlineSeconds: 300,
    isOutbound: true,
  }),
  'repository.refresh': job(Type.Object({ repositoryId: Type.Integer() }), { deadlineSeconds: 300 }),
}

type Catalogue = typeof jobCatalogue
export type JobName = keyof Catalogue
export type JobPayload<Name extends JobName> = Static<Catalogue[Name]['payload']>

/** Whether a name read from the database is one this version knows. */
export function isJobName(name: string): name is JobName {
  return Object.hasOwn(jobCatalogue, name)
}
