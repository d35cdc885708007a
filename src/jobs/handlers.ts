import type { Context } from '../context.ts'
import type { JobName, JobPayload } from './catalogue.ts'

export interface JobRun {
  /** Fires at the job's deadline and when the process is asked to stop. Handlers pass it on to whatever they wait for. */
  signal: AbortSignal
  /** From 1. */
  attempt: number
}

export type JobHandler<Name extends JobName> = (
  context: Context,
  payload: JobPayload<Name>,
  run: JobRun,
) => Promise<void>

/** One handler for every name of the catalogue, put together by src/app. */
export type JobHandlers = { [Name in JobName]: JobHandler<Name> }
