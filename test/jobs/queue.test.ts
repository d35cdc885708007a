import { afterAll, beforeAll, expect, test } from 'bun:test'
import { enqueueJobs } from '../../src/jobs/enqueue.ts'
import { listFailedJobs, removeRetiredJobs, retryFailedJob } from '../../src/jobs/failures.ts'
import { LeaseLost } from '../../src/jobs/leases.ts'
import { createTestDatabase, type TestDatabase } from '../harness/database.ts'
import { until } from '../harness/until.ts'
import { openQueue, type Seen, type TestQueue } from './queue.ts'

let home: TestDatabase
let queue: TestQueue
let seen: Seen[] = []
const ids = () => seen.map(({ id }) => id)
/** The handler's behaviour for one test. */
let behave: (job: Seen) => Promise<void>

beforeAll(async () => {
  home = await createTestDatabase()
  queue = openQueue(home.url, {
    async react(job) {
      seen.push(job)
      await behave(job)
    },
  })
})
afterAll(async () => {
  await queue.close()
  await home.drop()
})

async function drained(behaviour: (job: Seen) => Promise<void> = async () => undefined): Promise<number[]> {
  seen = []
  behave = behaviour
  await queue.jobs.drain()
  return ids()
}

const fail = async () => {
  throw new Error('the target is away')
}

test('a job exists only if the transaction that wrote it commits', async () => {
  const { database, jobs } = queue
  const change = database.db.transaction(async (tx) => {
    await jobs.enqueue(tx, 'events.react', { eventIds: [1], reaction: '' })
    throw new Error('changed my mind')
  })
  await expect(change).rejects.toThrow('changed my mind')
  await database.db.transaction((tx) => jobs.enqueue(tx, 'events.react', { eventIds: [2], reaction: '' }))
  expect(await drained()).toEqual([2])
})

test('jobs of one queue run one after the other, in their order', async () => {
  for (let id = 1; id <= 20; id++) await queue.add(id, '', { queue: 'one' })
  let running = 0
  let most = 0
  const order = await drained(async () => {
    most = Math.max(most, ++running)
    await queue.database.sql`select 1`
    running--
  })
  expect(order).toEqual(Array.from({ length: 20 }, (_, index) => index + 1))
  expect(most).toBe(1)
})

test('jobs without a queue run beside each other', async () => {
  const met = Promise.withResolvers<void>()
  let running = 0
  for (let id = 1; id <= 3; id++) await queue.add(id)
  await drained(async () => {
    if (++running === 3) met.resolve()
    await met.promise
  })
  expect(running).toBe(3)
})

test('of waiting jobs with one key only the last is left', async () => {
  for (let id = 1; id <= 3; id++) await queue.add(id, '', { key: 'same' })
  expect(await drained()).toEqual([3])
})

test('a job that has its key already running is followed by the new one', async () => {
  await queue.add(1, '', { key: 'again', queue: 'again' })
  const order = await drained(async ({ id }) => {
    if (id === 1) await queue.add(2, '', { key: 'again', queue: 'again' })
  })
  expect(order).toEqual([1, 2])
})

test('jobs of a lower priority number go first, and those of the future wait', async () => {
  await queue.add(1, '', { queue: 'p', priority: 5 })
  await queue.add(2, '', { queue: 'p', priority: -5 })
  await queue.add(3, '', { queue: 'p', runAt: new Date('2999-01-01T00:00:00Z') })
  expect(await drained()).toEqual([2, 1])
})

test('draining runs what the jobs enqueue', async () => {
  await queue.add(3)
  expect(await drained(async ({ id }) => (id > 0 ? queue.add(id - 1) : undefined))).toEqual([3, 2, 1, 0])
})

test('a failed job waits, shows why, and succeeds at a later attempt', async () => {
  await queue.add(7)
  expect(await drained(fail)).toEqual([7])
  const [failed] = await listFailedJobs(queue.database.db)
  expect(failed).toMatchObject({ name: 'events.react', attempts: 1, maxAttempts: 25, lastError: 'the target is away' })
  const wait = (failed?.nextAttemptAt?.getTime() ?? 0) - (failed?.failedAt.getTime() ?? 0)
  expect(wait).toBeGreaterThan(2000)
  expect(wait).toBeLessThan(4000)
  expect(await drained()).toEqual([])
  await queue.database.sql`update jobs set run_at = now() where last_error is not null`
  expect(await drained()).toEqual([7])
  expect(seen[0]?.attempt).toBe(2)
  expect(await listFailedJobs(queue.database.db)).toEqual([])
})

test('a job is retired after its last attempt, until someone asks for it again', async () => {
  const { db } = queue.database
  await queue.add(8, '', { maxAttempts: 1 })
  await drained(fail)
  const [failed] = await listFailedJobs(db)
  expect(failed).toMatchObject({ attempts: 1, maxAttempts: 1, nextAttemptAt: null })
  expect(await retryFailedJob(db, failed?.id ?? 0)).toBe(true)
  expect(await drained(fail)).toEqual([8])
  expect(await removeRetiredJobs(db, new Date('2000-01-01T00:00:00Z'))).toBe(0)
  expect(await removeRetiredJobs(db, new Date('2999-01-01T00:00:00Z'))).toBe(1)
  expect(await listFailedJobs(db)).toEqual([])
  expect(await retryFailedJob(db, failed?.id ?? 0)).toBe(false)
})

test('a payload that does not fit its name fails before the handler sees it', async () => {
  const { sql, db } = queue.database
  await sql`insert into jobs (name, payload, max_attempts) values ('events.react', '{"eventId":"x"}', 1)`
  expect(await drained()).toEqual([])
  const [failed] = await listFailedJobs(db)
  expect(failed?.lastError).toStartWith('payload/')
  await removeRetiredJobs(db, new Date('2999-01-01T00:00:00Z'))
})

test('a stop ends the running jobs by their signal and hands them back with their attempt and their place', async () => {
  const started = Promise.withResolvers<void>()
  const heeding = openQueue(home.url, {
    async react({ signal }) {
      started.resolve()
      const ended = Promise.withResolvers<void>()
      signal.addEventListener('abort', () => ended.reject(signal.reason))
      await ended.promise
    },
  })
  heeding.jobs.start()
  await queue.add(1, '', { queue: 'kept' })
  await started.promise
  await queue.add(2, '', { queue: 'kept' })
  const begin = performance.now()
  await heeding.close()
  expect(performance.now() - begin).toBeLessThan(8000)
  expect(await listFailedJobs(queue.database.db)).toEqual([])
  expect(await drained()).toEqual([1, 2])
  expect(seen[0]?.attempt).toBe(1)
})

test('a stop takes back jobs from handlers that ignore their signal', async () => {
  const started = Promise.withResolvers<void>()
  const deaf = openQueue(home.url, {
    react() {
      started.resolve()
      return new Promise(() => undefined)
    },
  })
  deaf.jobs.start()
  await queue.add(5, '', { queue: 'deaf' })
  await started.promise
  await deaf.jobs.stop(50)
  await deaf.close()
  expect(await drained()).toEqual([5])
})

test('a job that a worker claimed but never heard of is freed when its lease ends', async () => {
  const done: number[] = []
  const { sql } = queue.database
  await queue.add(7, '', { queue: 'lost' })
  // What is left when the answer to a claim is lost with its connection.
  await sql`
    update jobs set lease = gen_random_uuid(), leased_until = now() - interval '1 second', attempts = 1 where queue = 'lost'`
  await queue.add(8, '', { queue: 'lost' })
  const worker = openQueue(home.url, {
    liveness: { beatSeconds: 0.05, leaseSeconds: 1 },
    async react({ id, attempt }) {
      done.push(id, attempt)
    },
  })
  worker.jobs.start()
  await until(() => done.length === 4, 'the jobs ran')
  expect(done).toEqual([7, 2, 8, 1])
  await worker.close()
})

test('a handler that lost its lease gets its signal, can no longer write or finish, and the next attempt is the only one that counts', async () => {
  const { sql, db } = queue.database
  const [begun, gate] = [Promise.withResolvers<Seen>(), Promise.withResolvers<void>()]
  const results: unknown[] = []
  const paused = openQueue(home.url, {
    liveness: { beatSeconds: 0.05, leaseSeconds: 60 },
    async react(job) {
      begun.resolve(job)
      await gate.promise
      results.push(await db.transaction((tx) => job.holdLease(tx)).catch((error: unknown) => error))
    },
  })
  paused.jobs.start()
  await queue.add(9, '', { queue: 'fenced' })
  const { signal } = await begun.promise
  const lost = new Promise((resolve) => signal.addEventListener('abort', resolve))
  await sql`
    update jobs set lease = gen_random_uuid(), leased_until = now() + interval '1 minute', attempts = 2
    where queue = 'fenced'`
  await lost
  gate.resolve()
  await until(() => results.length > 0, 'it has tried to write')
  expect(results).toEqual([expect.any(LeaseLost)])
  await paused.close()
  // The row is the other attempt's.
  expect(await sql`select attempts from jobs where lease is not null`).toMatchObject([{ attempts: 2 }])
  await sql`update jobs set lease = null, leased_until = null where queue = 'fenced'`
  expect(await drained()).toEqual([9])
  expect(seen[0]?.attempt).toBe(3)
})

test('while a handler holds its lease in a transaction nobody takes the job, even when the lease has ended', async () => {
  const { sql, db } = queue.database
  const [holding, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const attempts: number[] = []
  const holder = openQueue(home.url, {
    async react(job) {
      attempts.push(job.attempt)
      await db.transaction(async (tx) => {
        await job.holdLease(tx)
        holding.resolve()
        await gate.promise
      })
    },
  })
  await queue.add(1, '', { queue: 'held' })
  const done = holder.jobs.drain()
  await holding.promise
  await sql`update jobs set leased_until = now() - interval '1 minute' where queue = 'held'`
  // Looks for jobs whose lease has ended, and finds another one.
  const other = openQueue(home.url, {
    liveness: { beatSeconds: 0.05, leaseSeconds: 1 },
    async react(job) {
      attempts.push(job.attempt)
    },
  })
  await queue.add(2, '', { queue: 'free' })
  await sql`
    update jobs set lease = gen_random_uuid(), leased_until = now() - interval '1 second', attempts = 6 where queue = 'free'`
  other.jobs.start()
  await until(() => attempts.length === 2, 'the other job ran')
  expect(attempts).toEqual([1, 7])
  // Renewing goes on meanwhile.
  await sql`update jobs set leased_until = now() + interval '1 minute' where queue = 'held'`
  gate.resolve()
  await done
  await other.close()
  await holder.close()
  expect(attempts).toEqual([1, 7])
})

test('a job with a key that failed while the next one waits makes room for it', async () => {
  const order = [] as string[]
  await queue.add(1, 'first', { key: 'k', queue: 'k' })
  await drained(async ({ word }) => {
    order.push(word)
    if (word !== 'first') return
    await queue.add(1, 'second', { key: 'k', queue: 'k' })
    await fail()
  })
  expect(order).toEqual(['first', 'second'])
  expect(await listFailedJobs(queue.database.db)).toEqual([])
})

test('a key may leave the waiting job as it is, but not one that was retired', async () => {
  const words = async () => {
    await drained()
    return seen.map(({ word }) => word)
  }
  await queue.add(1, 'old', { key: 'i', maxAttempts: 1 })
  await queue.add(1, 'new', { key: 'i', onSameKey: 'ignore' })
  expect(await words()).toEqual(['old'])
  await queue.add(1, 'bad', { key: 'i', maxAttempts: 1 })
  await drained(fail)
  await queue.add(1, 'again', { key: 'i', onSameKey: 'ignore' })
  expect(await words()).toEqual(['again'])
  expect(await listFailedJobs(queue.database.db)).toEqual([])
})

test('a job that takes the place of another goes to the end of its queue', async () => {
  await queue.add(1, '', { queue: 'q', key: 'k' })
  await queue.add(2, '', { queue: 'q' })
  await queue.add(3, '', { queue: 'q', key: 'k' })
  expect(await drained()).toEqual([2, 3])
})

test('six workers at once run every job once, and those of a queue one at a time in their order', async () => {
  const { db } = queue.database
  const ran: string[] = []
  const running = new Set<string>()
  const overlaps: string[] = []
  const workers = Array.from({ length: 6 }, () =>
    openQueue(home.url, {
      async react({ id, word }) {
        if (word !== '' && running.has(word)) overlaps.push(word)
        running.add(word)
        await Promise.resolve()
        ran.push(`${word} ${id}`)
        running.delete(word)
      },
    }),
  )
  for (const worker of workers) worker.jobs.start()
  const queues = ['', ...Array.from({ length: 12 }, (_, index) => `lane ${index}`)]
  const all = Array.from({ length: 600 }, (_, id) => ({ id, word: queues[id % queues.length] ?? '' }))
  for (let at = 0; at < all.length; at += 50) {
    const batch = all.slice(at, at + 50).map(({ id, word }) => {
      const payload = { eventIds: [id], reaction: word }
      return word === '' ? { payload } : { payload, queue: word }
    })
    await enqueueJobs(db, 'events.react', batch)
  }
  await until(() => ran.length >= all.length, 'all have run')
  for (const worker of workers) await worker.close()
  expect(overlaps).toEqual([])
  for (const word of queues.slice(1)) {
    const own = ran.filter((line) => line.startsWith(`${word} `))
    expect(own).toEqual(all.filter((one) => one.word === word).map(({ id }) => `${word} ${id}`))
  }
  expect(new Set(ran).size).toBe(all.length)
  expect(ran).toHaveLength(all.length)
})

/** Ends the connections of all workers. Returns how many there were. */
async function cutConnections(): Promise<number> {
  const cut = await queue.database.sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()
      and application_name in ('hearth jobs', 'hearth listener')`
  return cut.length
}

test('a running worker hears of a job at once, and is back soon after the database cut all connections', async () => {
  const done: number[] = []
  const worker = openQueue(home.url, {
    async react({ id }) {
      done.push(id)
    },
  })
  worker.jobs.start()
  for (let id = 1; id <= 2; id++) {
    await until(async () => (await cutConnections()) > 1, 'its connections are cut')
    await queue.add(id)
    // A job that was just claimed over a connection that is cut waits until its lease ends.
    await until(() => done.includes(id), `job ${id} after the connections were cut`, 40_000)
  }
  await worker.close()
})

test('a worker goes on when a statement of its own could not end', async () => {
  const done: number[] = []
  const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const worker = openQueue(home.url, {
    liveness: { beatSeconds: 0.05, leaseSeconds: 20 },
    async react({ id }) {
      if (id === 1) begun.resolve()
      if (id === 1) await gate.promise
      done.push(id)
    },
  })
  const { sql } = queue.database
  const waiting = () => sql`
    select pg_cancel_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name = 'hearth jobs' and wait_event_type = 'Lock'`
  const leased = () => sql`select 1 from jobs where lease is not null`
  worker.jobs.start()
  await queue.add(1)
  await begun.promise
  await sql.begin(async (locking) => {
    // Whoever wants to say that the job is done waits.
    await locking`select 1 from jobs where lease is not null for update`
    gate.resolve()
    await until(async () => (await waiting()).length > 0, 'it waits, and is cancelled as by its time limit')
  })
  await queue.add(2)
  await until(() => done.includes(2), 'the second job ran')
  await until(async () => (await leased()).length === 0, 'the first is finished')
  expect(done).toEqual([1, 2])
  await worker.close()
})
