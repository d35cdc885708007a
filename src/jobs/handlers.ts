import type { Db } from '../../db/client.ts'
import type { Context } from '../context.ts'
import type { JobName, JobPayload } from './catalogue.ts'

export interface JobRun {
  /**
   * Fires at the job's deadline, when the process is asked to stop, and when the lease is lost. Handlers pass it on to whatever
   * they wait for.
   */
  signal: AbortSignal
  /** From 1. */
  attempt: number
  /**
   * For writes that only the holder of the job may make. Called first in their transaction, it keeps the lease until the
   * transaction ends.
   * @throws LeaseLost when another attempt may have begun
   */
  holdLease(tx: Db): Promise<void>
}

export type JobHandler<Name extends JobName> = (
  context: Context,
  payload: JobPayload<Name>,
  run: JobRun,
) => Promise<void>

/** One handler for every name of the catalogue, put together by src/app. */
export type JobHandlers = { [Name in JobName]: JobHandler<Name> }

/** A handler that has its context: all that the queue itself needs to know. */
export type HandlerOf = <Name extends JobName>(name: Name) => (payload: JobPayload<Name>, run: JobRun) => Promise<void>

/** Binds the table to a context that may be made later: the context holds the queue, and the queue runs the handlers. */
export function handlerOf(handlers: JobHandlers, context: () => Context): HandlerOf {
  return <Name extends JobName>(name: Name) => {
    const handler: JobHandler<Name> = handlers[name]
    return (payload, run) => handler(context(), payload, run)
  }
}
