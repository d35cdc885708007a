import { Value } from '@sinclair/typebox/value'
import type { Task, TaskList } from 'graphile-worker'
import type { Log } from '../log.ts'
import type { Attempts } from './attempts.ts'
import { isJobName, type JobName, jobCatalogue } from './catalogue.ts'
import type { HandlerOf } from './handlers.ts'

export interface Work {
  /** See `handlerOf` for a table of handlers and a context. */
  handlerOf: HandlerOf
  log: Log
}

/** The handlers as the queue library calls them: with a checked payload, a deadline, a signal and a log line on failure. */
export function tasksOf(work: Work, attempts: Attempts): TaskList {
  const names = Object.keys(jobCatalogue).filter(isJobName)
  return Object.fromEntries(names.map((name) => [name, taskOf(name, work, attempts)]))
}

function taskOf<Name extends JobName>(name: Name, { handlerOf, log }: Work, attempts: Attempts): Task {
  const { payload: schema, deadlineSeconds } = jobCatalogue[name]
  const handler = handlerOf(name)
  return async (payload, { job }) => {
    try {
      if (!Value.Check(schema, payload)) throw new Error(`payload${firstFault(name, payload)}`)
      await attempts.run(job.id, deadlineSeconds, (signal) => handler(payload, { signal, attempt: job.attempts }))
    } catch (error) {
      const fields = { job: name, id: job.id, attempt: job.attempts, of: job.max_attempts, err: error }
      if (attempts.handedBack.has(job.id)) log.info(fields, 'job handed back')
      else if (job.attempts >= job.max_attempts) log.error(fields, 'job failed for the last time')
      else log.warn(fields, 'job failed, to be tried again')
      throw error
    }
  }
}

function firstFault(name: JobName, payload: unknown): string {
  const fault = Value.Errors(jobCatalogue[name].payload, payload).First()
  return fault === undefined ? '' : `${fault.path}: ${fault.message}`
}
