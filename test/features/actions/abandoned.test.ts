import { afterAll, beforeAll, expect, test } from 'bun:test'
import { connect } from '../../../db/connect.ts'
import { abandonedTasks } from '../../../src/features/actions-runs/abandoned.ts'
import { readLog } from '../../../src/features/actions-runs/logs.ts'
import { runCronTaskNow } from '../../../src/jobs/cron-tasks.ts'
import { countSealed } from '../../../src/secret-key/sealed-values.ts'
import { registerRunner } from '../../harness/runner.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../../harness/service.ts'
import { until } from '../../harness/until.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const clock = { time: Date.now(), now: () => new Date(clock.time) }
const SILENT = 'The runner has said nothing for 10 minutes'

let service: TestService
let owner: TestUser
beforeAll(async () => {
  service = await startTestService({ clock, settings: { ACTIONS_QUEUED_HOURS: '5' } })
  owner = await service.createUser()
})
afterAll(() => service.stop())

/** A repository whose only commit with a workflow has started it, and a runner for it. */
async function start(jobs: string, option: { ephemeral?: boolean } = {}) {
  const repo = await service.createRepository(owner)
  await owner.client.put(`${repo.path}/actions/secrets/PASS`, { data: 'hunter2' })
  const runner = await registerRunner(service.url, { owner, at: `${repo.path}/actions/runners` }, option)
  const content = btoa(`name: ci\non: push\njobs: { ${jobs} }`)
  const path = `${repo.path}/contents/.gitea/workflows/ci.yml`
  const sha = (await owner.client.post(path, { content, message: 'add' })).string('commit.sha')
  await service.drain()
  return { repo, runner, sha }
}

const job = (more = '') => `{ runs-on: linux, ${more} steps: [{ run: x }, { run: y }] }`

async function sweep() {
  for (const { name } of abandonedTasks) await runCronTaskNow(service.context, name)
  await service.drain()
}

const jobsOf = async (repo: TestRepository) =>
  (
    await service.context.sql<{ key: string; status: string; conclusion: string | null }[]>`
      select key, status, conclusion from actions_jobs where repository_id = ${repo.id} order by run_id, position`
  ).map(({ key, status, conclusion }) => `${key}: ${conclusion ?? status}`)

const runOf = async (repo: TestRepository) =>
  (await service.context.sql`select status, conclusion from actions_runs where repository_id = ${repo.id}`)[0]

const taskRow = async (task: { id: string }) =>
  (await service.context.sql`select * from actions_tasks where id = ${task.id}`)[0]

async function logOf(task: { id: string }): Promise<string> {
  const chunks = await Array.fromAsync(readLog(service.context.db, Number(task.id)))
  return Buffer.concat(chunks).toString()
}

/** What was said of a job on its commit, the oldest first. */
const wordsOn = async (repo: TestRepository, name: string) =>
  (
    await service.context.sql<{ state: string; description: string }[]>`
      select state, description from commit_statuses
      where repository_id = ${repo.id} and context = ${`ci / ${name} (push)`} order by id`
  ).map(({ state, description }) => `${state}: ${description}`)

interface Meeting<Answer> {
  /** What a transaction of the test does first, so that the others have to wait for it. */
  hold: string
  begin: readonly (() => Promise<Answer>)[]
  /** What happens while all of them wait. */
  meanwhile: () => Promise<unknown>
}

/** Lets things meet: they have looked already when the row that they wait for is given free. */
async function meet<Answer>({ hold, begin, meanwhile }: Meeting<Answer>): Promise<Answer[]> {
  const sql = connect(service.databaseUrl, { max: 2 })
  try {
    let begun: Promise<Answer>[] = []
    await sql.begin(async (holding) => {
      await holding.unsafe(hold)
      begun = begin.map((one) => one())
      await until(async () => {
        const [row] = await sql<{ waiting: number }[]>`
          select count(*)::int as waiting from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`
        return row?.waiting === begin.length
      }, 'all wait for the row')
      await meanwhile()
    })
    return await Promise.all(begun)
  } finally {
    await sql.end()
  }
}

const taskNamed = (name: string) => {
  const task = abandonedTasks.find((one) => one.name === name)
  if (!task) throw new Error(`there is no task ${name}`)
  return () => task.run(service.context, new AbortController().signal)
}
const stopSilent = taskNamed('stop_zombie_tasks')
const cancelUntaken = taskNamed('cancel_abandoned_jobs')

const nothing = async () => {}

test('a job whose runner vanishes fails, says why, and what its runner says later changes nothing', async () => {
  const { repo, runner } = await start(`a: ${job()}, b: ${job('needs: a,')}, c: ${job('if: always(), needs: a,')}`)
  const { sealed } = await countSealed(service.context.db, service.context.secrets)
  const task = await runner.take()
  // The values that its log must not show are sealed, for as long as it may have rows.
  expect(await countSealed(service.context.db, service.context.secrets)).toEqual({
    sealed: sealed + 1,
    previous: 0,
    unreadable: 0,
  })
  clock.time += 9 * MINUTE_MS
  expect(await runner.log(task, ['one'])).toBe(1)
  clock.time += 9 * MINUTE_MS
  await runner.update(task, { steps: [{ id: '0', startedAt: clock.now().toISOString() }] })
  clock.time += 9 * MINUTE_MS
  await sweep()
  expect(await jobsOf(repo)).toEqual(['a: in_progress', 'b: blocked', 'c: blocked'])
  const seen = (await taskRow(task))?.last_seen_at

  clock.time += 2 * MINUTE_MS
  await sweep()
  expect(await jobsOf(repo)).toEqual(['a: failure', 'b: skipped', 'c: queued'])
  expect((await wordsOn(repo, 'a')).at(-1)).toBe(`failure: ${SILENT}`)
  const log = await logOf(task)
  expect(log.split('\n')).toEqual([
    expect.stringMatching(/ one$/),
    `${clock.now().toISOString().slice(0, -1)}0000Z ${SILENT}`,
    '',
  ])
  const ended = await taskRow(task)
  expect(ended).toMatchObject({
    status: 'completed',
    conclusion: 'failure',
    masks: null,
    is_log_complete: true,
    log_rows: 1,
  })
  expect(ended?.last_seen_at).toEqual(seen)
  expect(ended?.steps).toMatchObject([
    { status: 'completed', conclusion: 'failure', completedAt: clock.now().toISOString() },
    { status: 'completed', conclusion: 'skipped', startedAt: null },
  ])

  const late = await runner.update(
    task,
    { result: 'RESULT_SUCCESS', steps: [{ id: '1', result: 'RESULT_SUCCESS' }] },
    { x: 'y' },
  )
  expect([late.status, late.body.state.result, late.body.sentOutputs]).toEqual([200, 'RESULT_FAILURE', undefined])
  // The words of the server are none of the runner's rows.
  expect(await runner.log(task, ['hunter2'], { index: 1 })).toBe(1)
  await service.drain()
  expect(await taskRow(task)).toEqual(ended)
  expect(await logOf(task)).toBe(log)
  expect(await jobsOf(repo)).toEqual(['a: failure', 'b: skipped', 'c: queued'])

  await runner.end(await runner.take())
  await service.drain()
  expect(await runOf(repo)).toEqual({ status: 'completed', conclusion: 'failure' })
})

test('a job that was to be cancelled is cancelled, and a runner made for it goes with it', async () => {
  const { repo, runner } = await start(`a: ${job()}`, { ephemeral: true })
  const task = await runner.take()
  await service.context.sql`update actions_jobs set is_cancelled = true where repository_id = ${repo.id}`
  clock.time += 11 * MINUTE_MS
  await sweep()
  expect(await jobsOf(repo)).toEqual(['a: cancelled'])
  expect((await runner.update(task, { result: 'RESULT_SUCCESS' })).status).toBe(401)
  expect((await owner.client.get(`${repo.path}/actions/runners`)).number('total_count')).toBe(0)
})

test('a job that works on beyond its timeout fails, a while after its runner should have ended it', async () => {
  const { repo, runner } = await start(`a: ${job('timeout-minutes: 12.5,')}, b: ${job()}`)
  const [task, other] = [await runner.take(), await runner.take()]
  const work = async (minutes: number) => {
    for (let gone = 0; gone < minutes; gone += 1) {
      clock.time += MINUTE_MS
      if (gone % 5 === 0) for (const one of [task, other]) await runner.update(one, {})
    }
    await sweep()
  }
  await work(22)
  expect(await jobsOf(repo)).toEqual(['a: in_progress', 'b: in_progress'])
  await work(1)
  expect(await jobsOf(repo)).toEqual(['a: failure', 'b: in_progress'])
  const reason = 'The job has not ended within its timeout of 12.5 minutes'
  expect((await wordsOn(repo, 'a')).at(-1)).toBe(`failure: ${reason}`)
  expect(await logOf(task)).toEndWith(` ${reason}\n`)
  expect((await runner.update(task, {})).body.state.result).toBe('RESULT_FAILURE')
  await runner.end(other)
})

test('jobs that no runner takes are cancelled, and those that wait for them are skipped', async () => {
  const matrix = 'strategy: { matrix: { v: [1, 2] } },'
  const { repo, runner } = await start(`a: ${job(matrix)}, b: ${job('needs: a,')}`)
  const task = await runner.take()
  clock.time += 5 * HOUR_MS - MINUTE_MS
  await runner.update(task, {})
  await taskNamed('cancel_abandoned_jobs')()
  expect(await jobsOf(repo)).toEqual(['a[0]: in_progress', 'a[1]: queued', 'b: blocked'])
  clock.time += 2 * MINUTE_MS
  await sweep()
  expect(await jobsOf(repo)).toEqual(['a[0]: in_progress', 'a[1]: cancelled', 'b: blocked'])
  expect((await wordsOn(repo, 'a (2)')).at(-1)).toBe('failure: No runner has taken the job within 5 hours')
  expect(await runner.fetch()).toBeUndefined()
  await runner.end(task)
  await service.drain()
  expect(await jobsOf(repo)).toEqual(['a[0]: success', 'a[1]: cancelled', 'b: skipped'])
  expect(await runOf(repo)).toEqual({ status: 'completed', conclusion: 'cancelled' })
})

test('two replicas at once end each job once', async () => {
  const { repo, runner } = await start(`a: ${job()}, b: ${job()}`)
  const task = await runner.take()
  clock.time += 6 * HOUR_MS
  const hold = `select 1 from actions_runs where repository_id = ${repo.id} for update`
  await meet({ hold, begin: [stopSilent, stopSilent], meanwhile: nothing })
  await meet({ hold, begin: [cancelUntaken, cancelUntaken], meanwhile: nothing })
  await service.drain()
  expect(await jobsOf(repo)).toEqual(['a: failure', 'b: cancelled'])
  expect(await wordsOn(repo, 'a')).toEqual([
    'pending: Waiting to run',
    'pending: Has started running',
    `failure: ${SILENT}`,
  ])
  expect(await wordsOn(repo, 'b')).toHaveLength(2)
  expect((await logOf(task)).split(SILENT)).toHaveLength(2)
})

test('a runner that speaks, or takes the job, at the last moment has it', async () => {
  const { repo, runner } = await start(`a: ${job()}, b: ${job()}`)
  const task = await runner.take()
  clock.time += 6 * HOUR_MS
  const hold = `select 1 from actions_runs where repository_id = ${repo.id} for update`
  await meet({ hold, begin: [stopSilent], meanwhile: () => runner.update(task, {}) })
  await meet({ hold, begin: [cancelUntaken], meanwhile: () => runner.take() })
  await service.drain()
  expect(await jobsOf(repo)).toEqual(['a: in_progress', 'b: in_progress'])
})

test('a runner that speaks while its job is ended hears of the end', async () => {
  const { repo, runner } = await start(`a: ${job()}`)
  const task = await runner.take()
  const before = await taskRow(task)
  const say = (result?: string) => () =>
    runner.update(task, { result, steps: [{ id: '0', startedAt: clock.now().toISOString() }] })
  const hold = `update actions_tasks set status = 'completed', conclusion = 'failure' where id = ${task.id}`
  const answers = await meet({ hold, begin: [say(), say('RESULT_SUCCESS')], meanwhile: nothing })
  expect(answers.map(({ body }) => body.state.result)).toEqual(['RESULT_FAILURE', 'RESULT_FAILURE'])
  expect(await taskRow(task)).toEqual({ ...before, status: 'completed', conclusion: 'failure' })
  expect(await jobsOf(repo)).toEqual(['a: in_progress'])
})
