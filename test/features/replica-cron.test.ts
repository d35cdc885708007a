import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startTestService, type TestService } from '../harness/service.ts'
import { until } from '../harness/until.ts'
import type { Replica } from './transport/replica.ts'
import { startTwin } from './transport/twins.ts'

const settings = { SECRET_KEY: 'the same key in all of the replicas' }
let service: TestService
let replicas: Replica[] = []
beforeAll(async () => {
  service = await startTestService({ settings })
})
afterAll(async () => {
  for (const replica of replicas) await replica.kill()
  await service.stop()
})

const start = (name: string) => startTwin(service, name, settings)

interface Task {
  name: string
  schedule: string
  runs: number
  ticks: number
}

/** Ticks beside the old one of each task. */
const tasks = () => service.context.sql<Task[]>`
  select name, schedule, exec_times::int as runs,
    (select count(*)::int from cron_ticks where task = name and due_at > now() - interval '40 days') as ticks
  from cron_tasks where is_active order by name`

const waitingRuns = async () => {
  const [row] = await service.context.sql`select count(*)::int as jobs from jobs where name = 'cron.run'`
  return row?.jobs
}

test('two servers that start together after a long silence run each missed task once', async () => {
  const { sql } = service.context
  await sql`insert into cron_ticks (task, due_at) select name, now() - interval '50 days' from cron_tasks`
  replicas = await Promise.all([start('one'), start('two')])
  await until(async () => (await waitingRuns()) === 0, 'the missed tasks are run', 40_000)
  const found = await tasks()
  expect(found.length).toBeGreaterThan(15)
  for (const { name, schedule, runs, ticks } of found) {
    expect([name, runs >= 1, runs <= ticks]).toEqual([name, true, true])
    // Others may have been due once more meanwhile.
    if (!/^@every \d+m$/.test(schedule)) expect([name, runs, ticks]).toEqual([name, 1, 1])
  }
})

/** Waits for the clock: no task of the program is due more often than each minute. */
test('the next tick after one of them was killed is run by the other, once', async () => {
  const { sql } = service.context
  const [killed] = replicas.splice(0, 1)
  await killed?.kill()
  const [before] = await sql<{ due: Date; runs: number }[]>`
    select date_trunc('minute', now()) + interval '1 minute' as due, exec_times::int as runs
    from cron_tasks where name = 'repair_pushes'`
  if (!before) throw new Error('there is no such task')
  const next = () => sql<{ late: number; runs: number }[]>`
    select extract(epoch from claimed_at - due_at)::float8 as late, exec_times::int as runs
    from cron_ticks join cron_tasks on name = task where task = 'repair_pushes' and due_at = ${before.due}`
  await until(async () => ((await next())[0]?.runs ?? 0) > before.runs, 'the tick is run', 75_000)
  const [tick] = await next()
  expect(tick?.runs).toBe(before.runs + 1)
  expect(tick?.late).toBeLessThan(5)
}, 90_000)
