import pino from 'pino'
import { openChannels } from '../../db/channels.ts'
import { type Database, openDatabase } from '../../db/client.ts'
import type { Context } from '../../src/context.ts'
import { createDispatcher } from '../../src/events/dispatcher.ts'
import { eventHandlers } from '../../src/events/fan-out.ts'
import type { Reaction } from '../../src/events/reaction.ts'
import type { JobName } from '../../src/jobs/catalogue.ts'
import type { HandlerOf, JobHandler, JobHandlers, JobRun } from '../../src/jobs/handlers.ts'
import type { Jobs } from '../../src/jobs/jobs.ts'
import { createJobs, type JobsOptions } from '../../src/jobs/queue.ts'
import { type Clock, systemClock } from '../../src/kernel/time.ts'

/** What the test's handler sees of a job. */
export interface Seen extends JobRun {
  id: number
  word: string
}

export interface QueueOptions extends Partial<Pick<JobsOptions, 'concurrency' | 'liveness'>> {
  /** Events of the database reach these. */
  reactions?: readonly Reaction[]
  handlers?: Partial<JobHandlers>
  /** The handler of the only job that tests of the queue need, `events.react`. */
  react?: (seen: Seen) => Promise<void>
  clock?: Clock
}

export interface TestQueue {
  database: Database
  jobs: Jobs
  context: Context
  add(id: number, word?: string, options?: Parameters<Jobs['enqueue']>[3]): Promise<void>
  close(): Promise<void>
}

/** A queue on a real database, without the rest of the program. */
export function openQueue(url: string, options: QueueOptions = {}): TestQueue {
  const database = openDatabase(url, { poolSize: 4, applicationName: 'test' })
  const log = pino({ level: 'silent' })
  const handlers: Partial<JobHandlers> = {
    async 'events.react'(_, { eventIds: [id = 0], reaction: word }, run) {
      await options.react?.({ id, word, ...run })
    },
    ...(options.reactions ? eventHandlers(options.reactions) : {}),
    ...options.handlers,
  }
  const handlerOf: HandlerOf = <Name extends JobName>(name: Name) => {
    const handler: JobHandler<Name> | undefined = handlers[name]
    return async (payload, run) => handler?.(context, payload, run)
  }
  const channels = openChannels({ url, sql: database.sql })
  const { dispatch: feed } = createDispatcher({ db: database.db, channels, log }, options.reactions ?? [])
  const jobs = createJobs({ url, channels, log, handlerOf, feed, ...options })
  const context = partialContext({ ...database, channels }, { jobs, log, clock: options.clock ?? systemClock })
  return {
    database,
    jobs,
    context,
    add: (id, word = '', settings = {}) =>
      jobs.enqueue(database.db, 'events.react', { eventIds: [id], reaction: word }, settings),
    async close() {
      await jobs.stop()
      await channels.close()
      await database.close()
    },
  }
}

function partialContext(
  { db, sql, channels }: Pick<Context, 'db' | 'sql' | 'channels'>,
  { jobs, log, clock }: Pick<Context, 'jobs' | 'log' | 'clock'>,
): Context {
  const absent = (): never => {
    throw new Error('tests of the queue have no such thing')
  }
  const stopping = new AbortController().signal
  return {
    ...{ db, sql, channels, jobs, log, clock, baseUrl: '', sshRoot: '', stopping },
    get config() {
      return absent()
    },
    get workflows() {
      return absent()
    },
    get openPgp() {
      return absent()
    },
    get git() {
      return absent()
    },
    get objects() {
      return absent()
    },
    get outbound() {
      return absent()
    },
    get hostPlaces() {
      return absent()
    },
    get signing() {
      return absent()
    },
    get renderer() {
      return absent()
    },
    get mailer() {
      return absent()
    },
    get templates() {
      return absent()
    },
    get passwords() {
      return absent()
    },
    get verified() {
      return absent()
    },
    get signIns() {
      return absent()
    },
    get providers() {
      return absent()
    },
    get secrets() {
      return absent()
    },
  }
}
