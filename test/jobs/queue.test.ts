import { afterAll, beforeAll, expect, test } from 'bun:test'
import { listFailedJobs, removeRetiredJobs, retryFailedJob } from '../../src/jobs/failures.ts'
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
  await queue.database.sql`update graphile_worker._private_jobs set run_at = now() where last_error is not null`
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
  await sql`select 1 from graphile_worker.add_job('events.react', '{"eventId":"x"}'::json, max_attempts => 1)`
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
  await heeding.jobs.start()
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
  await deaf.jobs.start()
  await queue.add(5, '', { queue: 'deaf' })
  await started.promise
  await deaf.jobs.stop(50)
  await deaf.database.close()
  expect(await drained()).toEqual([5])
  expect(await queue.database.sql`select id from job_workers`).toHaveLength(0)
})

test('a job that a living worker claimed but never heard of is freed', async () => {
  const done: number[] = []
  const worker = openQueue(home.url, {
    liveness: { beatSeconds: 0.05, deadSeconds: 1, endSeconds: 1 },
    async react({ id, attempt }) {
      done.push(id, attempt)
    },
  })
  const { sql } = queue.database
  await queue.add(7, '', { queue: 'lost', runAt: new Date(Date.now() + 3_600_000) })
  await worker.jobs.start()
  // What is left when the answer to a claim is lost with its connection.
  await sql`
    update graphile_worker._private_job_queues q
    set locked_by = (select id from job_workers), locked_at = now() - interval '1 minute'
    from graphile_worker._private_jobs j where j.job_queue_id = q.id and q.queue_name = 'lost'`
  await sql`
    update graphile_worker._private_jobs
    set locked_by = (select id from job_workers), locked_at = now() - interval '1 minute', run_at = now(), attempts = 1
    where job_queue_id = (select id from graphile_worker._private_job_queues where queue_name = 'lost')`
  await until(() => done.length > 0, 'the job ran')
  expect(done).toEqual([7, 1])
  await worker.close()
})

/** Ends the connections of all workers. Returns how many there were. */
async function cutConnections(): Promise<number> {
  const cut = await queue.database.sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and application_name = 'hearth jobs'`
  return cut.length
}

test('a running worker hears of a job at once, and is back soon after the database cut all connections', async () => {
  const done: number[] = []
  const worker = openQueue(home.url, {
    async react({ id }) {
      done.push(id)
    },
  })
  await worker.jobs.start()
  for (let id = 1; id <= 2; id++) {
    expect(await cutConnections()).toBeGreaterThan(0)
    await queue.add(id)
    // A job that was just claimed over a connection that is cut waits until the claim counts as lost: 25 s at most.
    await until(() => done.includes(id), `job ${id} after the connections were cut`, 40_000)
  }
  await worker.close()
})

test('a worker that was cut off in its very first statement works all the same', async () => {
  const done: number[] = []
  const worker = openQueue(home.url, {
    async react({ id }) {
      done.push(id)
    },
  })
  await queue.database.sql.begin(async (sql) => {
    await sql`lock table graphile_worker._private_tasks in access exclusive mode`
    await worker.jobs.start()
    const waiting = () => queue.database.sql`
      select 1 from pg_stat_activity
      where datname = current_database() and application_name = 'hearth jobs' and wait_event_type = 'Lock'`
    await until(async () => (await waiting()).length > 0, 'the worker looks up its tasks')
    await cutConnections()
  })
  await queue.add(1)
  await until(() => done.includes(1), 'the job ran')
  await worker.close()
})

test('a worker that cannot end, since a statement never does, is left behind and another takes its place', async () => {
  const done: number[] = []
  const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const worker = openQueue(home.url, {
    liveness: { beatSeconds: 0.05, deadSeconds: 20, endSeconds: 0.1 },
    async react({ id }) {
      if (id === 1) begun.resolve()
      if (id === 1) await gate.promise
      done.push(id)
    },
  })
  const { sql } = queue.database
  const workers = async () => (await sql`select id from job_workers`).map(({ id }) => String(id))
  const others = await workers()
  const own = async () => (await workers()).filter((id) => !others.includes(id))
  await worker.jobs.start()
  const [first = ''] = await own()
  await queue.add(1)
  await begun.promise
  await sql.begin(async (locking) => {
    // Whoever wants to say that the job is done waits.
    await locking`select 1 from graphile_worker._private_jobs where locked_by = ${first} for update`
    gate.resolve()
    await sql`delete from job_workers where id = ${first}`
    await until(async () => (await own()).some((id) => id !== first), 'another worker is there')
  })
  await queue.add(2)
  await until(() => done.includes(2), 'the second job ran')
  await worker.close()
})
