import { Value } from '@sinclair/typebox/value'
import { type JobName, jobCatalogue } from './catalogue.ts'
import type { HandlerOf, JobRun } from './handlers.ts'
import { type ClaimedJob, holdLease } from './leases.ts'

/** One claimed job at work, until its handler ends, its deadline passes, or somebody ends it. */
export class Attempt {
  readonly job: ClaimedJob
  /** Fulfilled when the job is done; rejects with why it is not. Settles once, whether or not the handler heeds its signal. */
  readonly ended: Promise<void>
  readonly #controller = new AbortController()
  readonly #over = Promise.withResolvers<never>()

  constructor(job: ClaimedJob, name: JobName, handlerOf: HandlerOf) {
    this.job = job
    this.ended = this.#run(name, handlerOf)
  }

  /** Fires the signal. The handler may still end by itself, well or not. */
  abort(reason: Error): void {
    this.#controller.abort(reason)
  }

  /** Fires the signal and waits no longer for the handler. */
  cut(reason: Error): void {
    this.#controller.abort(reason)
    this.#over.reject(reason)
  }

  async #run(name: JobName, handlerOf: HandlerOf): Promise<void> {
    const { payload: schema, deadlineSeconds } = jobCatalogue[name]
    const { payload, attempt } = this.job
    const run: JobRun = { attempt, signal: this.#controller.signal, holdLease: (tx) => holdLease(tx, this.job) }
    const expire = () => this.cut(new Error(`not done within ${deadlineSeconds} s`))
    const timer = setTimeout(expire, deadlineSeconds * 1000)
    try {
      if (!Value.Check(schema, payload)) throw new Error(`payload${firstFault(name, payload)}`)
      await Promise.race([handlerOf(name)(payload, run), this.#over.promise])
    } finally {
      clearTimeout(timer)
    }
  }
}

function firstFault(name: JobName, payload: unknown): string {
  const fault = Value.Errors(jobCatalogue[name].payload, payload).First()
  return fault === undefined ? '' : `${fault.path}: ${fault.message}`
}
