import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { type CronClock, createCron } from '../../src/jobs/cron.ts'
import {
  type CronTask,
  cronHandlers,
  listCronTasks,
  removeOldTicks,
  runCronTaskNow,
} from '../../src/jobs/cron-tasks.ts'
import { listFailedJobs } from '../../src/jobs/failures.ts'
import { jobTasks } from '../../src/jobs/maintenance.ts'
import { parseSchedule } from '../../src/jobs/schedule.ts'
import { Refusal } from '../../src/kernel/errors.ts'
import { createTestDatabase, type TestDatabase } from '../harness/database.ts'
import { until } from '../harness/until.ts'
import { openQueue, type TestQueue } from './queue.ts'

let home: TestDatabase
let queue: TestQueue
let now: Date
let ran: string[] = []
let fault: Error | undefined
let behave: (() => Promise<void>) | undefined
const clocks: CronClock[] = []

const task = (name: string, schedule: string): CronTask => ({
  name,
  schedule,
  description: `Task ${name}`,
  async run() {
    ran.push(name)
    await behave?.()
    if (fault !== undefined) throw fault
  },
})
const tasks = [task('nightly', '@midnight'), task('often', '@every 10m'), ...jobTasks]

beforeAll(async () => {
  home = await createTestDatabase()
  queue = openQueue(home.url, { clock: { now: () => now }, handlers: cronHandlers(tasks) })
})
beforeEach(async () => {
  now = new Date('2026-11-21T12:00:30Z')
  ran = []
  fault = undefined
  behave = undefined
  await queue.database.sql`truncate cron_ticks, cron_tasks`
  await queue.database.sql`delete from jobs`
})
afterEach(() => {
  for (const clock of clocks.splice(0)) clock.stop()
})
afterAll(async () => {
  await queue.close()
  await home.drop()
})

/** As a process does that starts now. */
async function startProcess(table: readonly CronTask[] = tasks): Promise<CronClock> {
  const cron = createCron(queue.context, table)
  clocks.push(cron)
  await cron.start()
  return cron
}

const dues = async () =>
  (await queue.database.sql<{ task: string; due_at: Date }[]>`select * from cron_ticks order by task, due_at`).map(
    ({ task: name, due_at }) => `${name} ${due_at.toISOString()}`,
  )

test.each([
  ['@every 10m', '2026-11-21T12:10:00.000Z'],
  ['@every 1h30m', '2026-11-21T13:30:00.000Z'],
  ['@every 30s', '2026-11-21T12:01:00.000Z'],
  ['@every 72h', '2026-11-24T00:00:00.000Z'],
  ['@midnight', '2026-11-22T00:00:00.000Z'],
  ['@daily', '2026-11-22T00:00:00.000Z'],
  ['@hourly', '2026-11-21T13:00:00.000Z'],
  ['@weekly', '2026-11-22T00:00:00.000Z'],
  ['@monthly', '2026-12-01T00:00:00.000Z'],
  ['@yearly', '2027-01-01T00:00:00.000Z'],
  ['0 3 * * *', '2026-11-22T03:00:00.000Z'],
  ['*/15 * * * * *', '2026-11-21T12:00:45.000Z'],
])('%s is next due at %s', (text, expected) => {
  const { next, latest } = parseSchedule(text)
  const due = next(new Date('2026-11-21T12:00:30Z'))
  expect(due.toISOString()).toBe(expected)
  expect(next(due).getTime()).toBeGreaterThan(due.getTime())
  expect(next(new Date(due.getTime() - 1)).toISOString()).toBe(expected)
  expect(latest(due)).toEqual(due)
  expect(latest(new Date(next(due).getTime() - 1))).toEqual(due)
})

test.each(['', '@every', '@every 0s', '@every x', '@sometimes', '* * *', '61 * * * *'])('%p is no schedule', (text) => {
  expect(() => parseSchedule(text)).toThrow()
})

test('the tasks are listed by name with when they ran and will run', async () => {
  await startProcess()
  const [cleanup, nightly, often] = await listCronTasks(queue.context)
  expect(cleanup?.name).toBe('cleanup_job_queue')
  expect(nightly).toEqual({
    name: 'nightly',
    schedule: '@midnight',
    description: 'Task nightly',
    next: new Date('2026-11-22T00:00:00Z'),
    prev: null,
    execTimes: 0,
    lastError: null,
  })
  expect(often?.next).toEqual(new Date('2026-11-21T12:10:00Z'))
})

test('a task can be run by hand, and its record outlives the process', async () => {
  await startProcess()
  await runCronTaskNow(queue.context, 'nightly')
  await queue.jobs.drain()
  await startProcess()
  await runCronTaskNow(queue.context, 'nightly')
  await queue.jobs.drain()
  expect(ran).toEqual(['nightly', 'nightly'])
  const nightly = (await listCronTasks(queue.context)).find(({ name }) => name === 'nightly')
  expect(nightly).toMatchObject({ execTimes: 2, prev: now, lastError: null })
})

test('a task asked for twice before it runs, runs once', async () => {
  await startProcess()
  await runCronTaskNow(queue.context, 'nightly')
  await runCronTaskNow(queue.context, 'nightly')
  await queue.jobs.drain()
  expect(ran).toEqual(['nightly'])
})

test('an unknown task, or one of an older version, is not found', async () => {
  await startProcess()
  await startProcess(tasks.filter(({ name }) => name !== 'often'))
  for (const name of ['no_such_task', 'often']) {
    const refused = await runCronTaskNow(queue.context, name).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(Refusal)
    expect(refused).toMatchObject({ status: 404 })
  }
  expect((await listCronTasks(queue.context)).map(({ name }) => name)).toEqual(['cleanup_job_queue', 'nightly'])
})

test('a failure is kept until the next run succeeds', async () => {
  await startProcess()
  const lastError = async () => (await listCronTasks(queue.context)).find(({ name }) => name === 'nightly')?.lastError
  fault = new Error('disk is full')
  await runCronTaskNow(queue.context, 'nightly')
  await queue.jobs.drain()
  expect(await lastError()).toBe('disk is full')
  expect(await listFailedJobs(queue.database.db)).toMatchObject([{ name: 'cron.run', attempts: 1, maxAttempts: 3 }])
  fault = undefined
  await runCronTaskNow(queue.context, 'nightly')
  await queue.jobs.drain()
  expect(await lastError()).toBeNull()
})

test('ticks that passed while nothing ran are made up for by one run a task, whoever starts first', async () => {
  await queue.database.sql`insert into cron_ticks (task, due_at) values
    ('nightly', '2026-11-18T00:00:00Z'), ('often', '2026-11-18T00:00:00Z')`
  await startProcess()
  await startProcess()
  await queue.jobs.drain()
  expect(ran.sort()).toEqual(['nightly', 'often'])
  expect(await dues()).toEqual([
    'nightly 2026-11-18T00:00:00.000Z',
    'nightly 2026-11-21T00:00:00.000Z',
    'often 2026-11-18T00:00:00.000Z',
    'often 2026-11-21T12:00:00.000Z',
  ])
})

test('a first start, and a start between two ticks, run nothing', async () => {
  await startProcess()
  expect(await dues()).toEqual([])
  await queue.database.sql`insert into cron_ticks (task, due_at) values ('often', '2026-11-21T12:00:00Z')`
  await startProcess()
  expect(await dues()).toEqual(['often 2026-11-21T12:00:00.000Z'])
})

test('a tick that a clock gone wrong wrote in the future does not stop the task', async () => {
  await queue.database.sql`insert into cron_ticks (task, due_at) values
    ('nightly', '2026-11-20T00:00:00Z'), ('nightly', '2036-01-01T00:00:00Z')`
  await startProcess()
  await queue.jobs.drain()
  expect(ran).toEqual(['nightly'])
})

test('old ticks are forgotten but for the last of each task, which says what was missed', async () => {
  await queue.database.sql`insert into cron_ticks (task, due_at, claimed_at) values
    ('nightly', '2026-08-01T00:00:00Z', '2026-08-01T00:00:00Z'),
    ('nightly', '2026-08-02T00:00:00Z', '2026-08-02T00:00:00Z'),
    ('often', '2026-11-21T11:50:00Z', '2026-11-21T11:50:00Z')`
  expect(await removeOldTicks(queue.database.db, new Date('2026-10-21T00:00:00Z'))).toBe(1)
  expect(await dues()).toEqual(['nightly 2026-08-02T00:00:00.000Z', 'often 2026-11-21T11:50:00.000Z'])
})

test('the clean-up of the queue forgets what was retired long ago, and keeps the rest', async () => {
  const { sql } = queue.database
  await startProcess()
  for (let id = 1; id <= 3; id++) await queue.add(id, '', { runAt: new Date('2999-01-01T00:00:00Z') })
  await sql`update jobs set attempts = max_attempts, retired_at = ${now}::timestamptz - interval '31 days' where payload @> '{"eventIds":[1]}'`
  await sql`update jobs set attempts = max_attempts, retired_at = ${now}::timestamptz - interval '29 days' where payload @> '{"eventIds":[2]}'`
  await runCronTaskNow(queue.context, 'cleanup_job_queue')
  await queue.jobs.drain()
  const left = await sql`select payload -> 'eventIds' ->> 0 as id from jobs order by 1`
  expect(left.map(({ id }) => id)).toEqual(['2', '3'])
})

test('an attempt whose lease was taken away leaves the record of its task to the next', async () => {
  await startProcess()
  const { sql } = queue.database
  const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  behave = async () => {
    behave = undefined
    begun.resolve()
    await gate.promise
    throw new Error('the old attempt')
  }
  await runCronTaskNow(queue.context, 'nightly')
  const drained = queue.jobs.drain()
  await begun.promise
  // As another replica does when the lease has ended.
  await sql`update jobs set lease = gen_random_uuid(), leased_until = now() + interval '1 minute' where name = 'cron.run'`
  gate.resolve()
  await until(
    async () => (await sql`select 1 from pg_stat_activity where query like '%for key share%'`).length > 0,
    'it writes',
  )
  await sql`update jobs set lease = null, leased_until = null`
  await drained
  const nightly = (await listCronTasks(queue.context)).find(({ name }) => name === 'nightly')
  expect(nightly).toMatchObject({ execTimes: 2, lastError: null })
})
