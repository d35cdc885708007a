import { afterAll, beforeAll, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { type ActionsRunRow, actionsRuns } from '../../../db/schema/actions.ts'
import { holdLines, leaveTurns, listTurns, takeTurns } from '../../../src/features/actions-runs/turns.ts'
import { createClient } from '../../harness/client.ts'
import { registerRunner } from '../../harness/runner.ts'
import { startTestService, type TestService, type TestUser } from '../../harness/service.ts'
import { until } from '../../harness/until.ts'
import type { Replica } from '../transport/replica.ts'
import { startTwin } from '../transport/twins.ts'

const settings = { SECRET_KEY: 'the same key in all of the replicas', PUBLIC_URL: 'http://hearth.example' }
let service: TestService
let owner: TestUser
beforeAll(async () => {
  service = await startTestService({ settings })
  owner = await service.createUser()
})
afterAll(() => service.stop())

const step = 'runs-on: linux, steps: [{ run: x }]'
const ONE = `jobs: { a: { ${step} } }`

/** A repository with workflows that are started by hand, and a runner. */
async function stage(files: Record<string, string>) {
  const repo = await service.createRepository(owner)
  for (const [name, text] of Object.entries(files)) {
    const path = `${repo.path}/contents/.gitea/workflows/${name}`
    const content = btoa(`on: [workflow_dispatch, workflow_call]\n${text}`)
    expect((await owner.client.post(path, { content, message: 'add workflow' })).status).toBe(201)
  }
  await service.drain()
  const runner = await registerRunner(service.url, { owner, at: `${repo.path}/actions/runners` })
  const show = async (what: 'runs' | 'jobs') => {
    const rows = await service.context.sql<{ number: number; key: string; state: string }[]>`
      select r.number, j.key, coalesce(j.conclusion, j.status) as state from actions_jobs j
      join actions_runs r on r.id = j.run_id where r.repository_id = ${repo.id} order by r.id, j.position, j.id`
    if (what === 'jobs') return rows.map(({ number, key, state }) => `${number} ${key}: ${state}`)
    const runs = await service.context.sql<{ number: number; state: string }[]>`
      select number, coalesce(conclusion, status) as state from actions_runs where repository_id = ${repo.id} order by id`
    return runs.map(({ number, state }) => `${number}: ${state}`)
  }
  return {
    repo,
    runner,
    runs: () => show('runs'),
    jobs: () => show('jobs'),
    async dispatch(file = 'ci.yml') {
      const path = `${repo.path}/actions/workflows/${file}/dispatches?return_run_details=true`
      const made = await owner.client.post(path, { ref: 'main' })
      expect(made.status).toBe(200)
      await service.drain()
      return `${repo.path}/actions/runs/${made.number('workflow_run_id')}`
    },
    async work(result?: string) {
      const task = await runner.take()
      await runner.end(task, result)
      await service.drain()
      return task
    },
    turns: async () => {
      const [row] = await service.context.sql`
        select count(*)::int as all, count(*) filter (where is_held)::int as held from actions_turns
        where repository_id = ${repo.id}`
      return row
    },
  }
}

test('of runs of a group one is at work and the newest waits', async () => {
  const { runs, jobs, dispatch, runner, work, turns } = await stage({
    'ci.yml': `concurrency: deploy\n${ONE}`,
    // Groups have no letter case, and are those of all workflows.
    'other.yml': `concurrency: { group: Deploy }\n${ONE}`,
    'free.yml': ONE,
  })
  const first = await dispatch()
  await dispatch('free.yml')
  const waiting = await dispatch('other.yml')
  expect(await runs()).toEqual(['1: queued', '2: queued', '3: blocked'])
  expect((await owner.client.get(waiting)).string('status')).toBe('waiting')
  const task = await runner.take()
  await dispatch()
  expect(await runs()).toEqual(['1: in_progress', '2: queued', '3: cancelled', '4: blocked'])
  expect(await jobs()).toEqual(['1 a: in_progress', '2 a: queued', '3 a: cancelled', '4 a: blocked'])
  await runner.end(task)
  await service.drain()
  expect(await runs()).toEqual(['1: success', '2: queued', '3: cancelled', '4: queued'])
  await work()
  await work()
  expect(await runs()).toEqual(['1: success', '2: success', '3: cancelled', '4: success'])
  expect(await turns()).toEqual({ all: 0, held: 0 })
  expect((await owner.client.delete(first)).status).toBe(204)
})

test('a group of another repository is another group', async () => {
  const [one, other] = [
    await stage({ 'ci.yml': `concurrency: x\n${ONE}` }),
    await stage({ 'ci.yml': `concurrency: x\n${ONE}` }),
  ]
  await one.dispatch()
  await other.dispatch()
  expect([...(await one.runs()), ...(await other.runs())]).toEqual(['1: queued', '1: queued'])
})

test('with cancel-in-progress a newer run ends the one at work, and begins when it has ended', async () => {
  const { runs, dispatch, runner, work } = await stage({
    'ci.yml': `concurrency: { group: 'ci-\${{ github.ref }}', cancel-in-progress: true }\n${ONE}`,
  })
  await dispatch()
  const task = await runner.take()
  await dispatch()
  expect(await runs()).toEqual(['1: in_progress', '2: blocked'])
  await dispatch()
  expect(await runs()).toEqual(['1: in_progress', '2: cancelled', '3: blocked'])
  expect((await runner.update(task, {})).body.state.result).toBe('RESULT_CANCELLED')
  await runner.end(task, 'RESULT_CANCELLED')
  await service.drain()
  expect(await runs()).toEqual(['1: cancelled', '2: cancelled', '3: queued'])
  // One that no runner has taken ends at once.
  await dispatch()
  expect(await runs()).toEqual(['1: cancelled', '2: cancelled', '3: cancelled', '4: queued'])
  await work()
  expect((await runs())[3]).toBe('4: success')
})

test('with queue: max all wait, and begin in their order', async () => {
  const { runs, dispatch, work } = await stage({ 'ci.yml': `concurrency: { group: x, queue: max }\n${ONE}` })
  for (let run = 0; run < 3; run += 1) await dispatch()
  expect(await runs()).toEqual(['1: queued', '2: blocked', '3: blocked'])
  await work()
  expect(await runs()).toEqual(['1: success', '2: queued', '3: blocked'])
  await work()
  expect(await runs()).toEqual(['1: success', '2: success', '3: queued'])
})

test('jobs of a group take turns across runs, while the others of their runs go on', async () => {
  const { runs, jobs, dispatch, runner, work, turns } = await stage({
    'ci.yml': `jobs: { build: { ${step} }, deploy: { concurrency: live, ${step} } }`,
  })
  await dispatch()
  await dispatch()
  expect(await jobs()).toEqual(['1 build: queued', '1 deploy: queued', '2 build: queued', '2 deploy: blocked'])
  await dispatch()
  expect((await jobs()).slice(2)).toEqual([
    '2 build: queued',
    '2 deploy: cancelled',
    '3 build: queued',
    '3 deploy: blocked',
  ])
  await work()
  const deploy = await runner.take()
  await work()
  await work()
  expect(await runs()).toEqual(['1: in_progress', '2: cancelled', '3: queued'])
  expect(await runner.fetch()).toBeUndefined()
  await runner.end(deploy)
  await service.drain()
  expect(await jobs()).toContain('3 deploy: queued')
  await work()
  expect(await runs()).toEqual(['1: success', '2: cancelled', '3: success'])
  expect(await turns()).toEqual({ all: 0, held: 0 })
})

test('with cancel-in-progress a job ends the one of its group, and no other job of that run', async () => {
  const live = 'concurrency: { group: live, cancel-in-progress: true }'
  const { jobs, dispatch, runner, work } = await stage({
    'ci.yml': `jobs: { build: { ${step} }, deploy: { ${live}, ${step} }, after: { needs: deploy, ${step} } }`,
  })
  await dispatch()
  const [build, deploy] = [await runner.take(), await runner.take()]
  await dispatch()
  expect((await runner.update(build, {})).body.state.result ?? '').not.toContain('CANCELLED')
  expect((await runner.update(deploy, {})).body.state.result).toBe('RESULT_CANCELLED')
  await runner.end(deploy, 'RESULT_CANCELLED')
  await runner.end(build)
  await service.drain()
  expect(await jobs()).toEqual([
    ...['1 build: success', '1 deploy: cancelled', '1 after: skipped'],
    ...['2 build: queued', '2 deploy: queued', '2 after: blocked'],
  ])
  for (let job = 0; job < 3; job += 1) await work()
  expect((await jobs()).slice(3)).toEqual(['2 build: success', '2 deploy: success', '2 after: success'])
})

test('a called workflow keeps its turn until its last job has ended', async () => {
  const called = `concurrency: live\njobs: { x: { ${step} }, y: { needs: x, ${step} } }`
  const { jobs, dispatch, work } = await stage({
    'ci.yml': 'jobs: { call: { uses: ./.gitea/workflows/called.yml } }',
    'called.yml': called,
  })
  await dispatch()
  await dispatch()
  await work()
  expect(await jobs()).toEqual(['1 call/x: success', '1 call/y: queued', '2 call/x: blocked', '2 call/y: blocked'])
  await work()
  expect(await jobs()).toEqual(['1 call/x: success', '1 call/y: success', '2 call/x: queued', '2 call/y: blocked'])
})

test('a job that would wait for its own run fails, and says why', async () => {
  const { jobs, dispatch, runs, repo } = await stage({
    'ci.yml': `concurrency: live\njobs: { a: { concurrency: LIVE, ${step} }, b: { ${step} } }`,
  })
  await dispatch()
  expect(await jobs()).toEqual(['1 a: failure', '1 b: queued'])
  const [row] = await service.context.sql`select error from actions_jobs where repository_id = ${repo.id} and key = 'a'`
  expect(row?.error).toContain('`LIVE` is that of the run')
  expect(await runs()).toEqual(['1: queued'])
})

test('a run that waits is cancelled at once, and one that runs again waits for its turn', async () => {
  const { runs, dispatch, work } = await stage({
    'ci.yml': `concurrency: x\njobs: { a: { ${step} }, last: { if: always(), ${step} } }`,
  })
  const first = await dispatch()
  await work()
  await work('RESULT_FAILURE')
  const second = await dispatch()
  expect((await owner.client.post(`${first}/rerun-failed-jobs`)).status).toBe(201)
  await service.drain()
  expect(await runs()).toEqual(['1: blocked', '2: queued'])
  await owner.client.post(`${first}/cancel`)
  await service.drain()
  expect(await runs()).toEqual(['1: cancelled', '2: queued'])
  await owner.client.post(`${first}/rerun`)
  await service.drain()
  expect((await owner.client.post(`${second}/force-cancel`)).status).toBe(200)
  await service.drain()
  expect(await runs()).toEqual(['1: queued', '2: cancelled'])
  await work()
  await work()
  expect(await runs()).toEqual(['1: success', '2: cancelled'])
})

test('the database keeps a second holder of a group out', async () => {
  const { dispatch, repo } = await stage({ 'ci.yml': `concurrency: x\n${ONE}` })
  await dispatch()
  await dispatch()
  const { sql } = service.context
  const both = async () => sql`update actions_turns set is_held = true where repository_id = ${repo.id}`
  expect(both()).rejects.toThrow('actions_turns_held_key')
})

test('who comes while another leaves is not forgotten', async () => {
  const { dispatch, repo } = await stage({ 'ci.yml': ONE })
  const { db, sql } = service.context
  const x = { group: 'X', cancelInProgress: false, queue: 'single', holder: '' } as const
  const runs: ActionsRunRow[] = []
  for (const path of [await dispatch(), await dispatch()]) {
    const [row] = await db
      .select()
      .from(actionsRuns)
      .where(eq(actionsRuns.id, Number(path.split('/').at(-1))))
    if (row) runs.push(row)
  }
  const [leaver, comer] = runs
  if (!leaver || !comer) throw new Error('there are no runs')
  const take = (run: ActionsRunRow) =>
    db.transaction(async (tx) => {
      const at = { tx, place: { run, ownerId: 0, htmlUrl: repo.path }, now: new Date() }
      await holdLines(at, ['x'])
      return takeTurns(at, [x], new Set())
    })
  expect(await take(leaver)).toBe(true)
  const wake = new Set<number>()
  let taken: Promise<boolean> | undefined
  await db.transaction(async (tx) => {
    const at = { tx, place: { run: leaver, ownerId: 0, htmlUrl: repo.path }, now: new Date() }
    await holdLines(at, ['x'])
    await leaveTurns(at, await listTurns(tx, leaver.id), wake)
    let isSettled = false
    taken = take(comer).finally(() => {
      isSettled = true
    })
    await until(async () => {
      const waiting = await sql`select 1 from pg_locks where locktype = 'advisory' and not granted`
      return isSettled || waiting.length > 0
    }, 'the comer waits or is done')
  })
  expect([await taken, [...wake]]).toEqual([true, []])
})

test('parallel runs of two replicas take one turn each', async () => {
  const { repo, runs, turns } = await stage({
    'ci.yml': `concurrency: x\n${ONE}`,
    'jobs.yml': `jobs: { a: { concurrency: { group: x, queue: max }, ${step} }, b: { concurrency: y, ${step} } }`,
  })
  const replicas: Replica[] = []
  try {
    for (const name of ['one', 'two']) replicas.push(await startTwin(service, name, settings))
    const clients = replicas.map(({ url }) => createClient({ url, credential: { token: owner.token } }))
    const start = (index: number) =>
      clients[index % 2]?.post(
        `${repo.path}/actions/workflows/${index % 3 === 0 ? 'ci' : 'jobs'}.yml/dispatches?return_run_details=true`,
        { ref: 'main' },
      )
    const answers = await Promise.all(Array.from({ length: 8 }, (_, index) => start(index)))
    expect(answers.map((answer) => answer?.status)).toEqual(answers.map(() => 200))
    const runner = await registerRunner(service.url, { owner, at: `${repo.path}/actions/runners` })
    let atWork = 0
    const isDone = async () => (await runs()).every((run) => /success|cancelled/.test(run))
    const step = async () => {
      const [row] = await service.context.sql`
        select count(*)::int as held from actions_turns
        where repository_id = ${repo.id} and is_held group by group_name order by 1 desc limit 1`
      expect(row?.held ?? 1).toBe(1)
      const task = await runner.fetch(600)
      if (task) {
        atWork += 1
        await runner.end(task)
      }
      return isDone()
    }
    await until(step, 'all runs have ended', 100_000)
    // The newest of each group got its turn, and none was forgotten.
    expect(atWork).toBeGreaterThanOrEqual(2)
    expect(await turns()).toEqual({ all: 0, held: 0 })
  } finally {
    for (const replica of replicas) await replica.kill()
  }
}, 120_000)
