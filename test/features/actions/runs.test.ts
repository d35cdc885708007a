import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readLog } from '../../../src/features/actions-runs/logs.ts'
import { registerRunner } from '../../harness/runner.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../../harness/service.ts'

let service: TestService
let owner: TestUser
beforeAll(async () => {
  service = await startTestService({ settings: { MAX_ACTIONS_LOG_BYTES: '4KiB' } })
  owner = await service.createUser()
})
afterAll(() => service.stop())

/** Commits a workflow, and lets the server do what follows. */
async function push(repo: TestRepository, text: string, name = 'ci.yml', message = 'add workflow') {
  const path = `${repo.path}/contents/.gitea/workflows/${name}`
  const made = await owner.client.post(path, { content: btoa(text), message })
  expect(made.status).toBe(201)
  await service.drain()
  return made.string('commit.sha')
}

const runnerOf = (repo: TestRepository, option = {}) =>
  registerRunner(service.url, { owner, at: `${repo.path}/actions/runners` }, option)

/** The newest word of each context on a commit. */
async function statuses(repo: TestRepository, sha: string): Promise<Record<string, string>> {
  const { body } = await owner.client.get(`${repo.path}/commits/${sha}/status`, { limit: 50 })
  const all = Object(body).statuses as { context: string; status: string; description: string }[]
  return Object.fromEntries(all.map(({ context, status, description }) => [context, `${status}: ${description}`]))
}

const runsOf = (repo: TestRepository) =>
  service.context.sql<
    {
      id: number
      number: number
      status: string
      conclusion: string | null
      error: string | null
      title: string
      event: string
    }[]
  >`select id, number, status, conclusion, error, title, event from actions_runs where repository_id = ${repo.id} order by id`

const jobsOf = async (repo: TestRepository) =>
  (
    await service.context.sql<{ key: string; status: string; conclusion: string | null }[]>`
    select key, status, conclusion from actions_jobs where repository_id = ${repo.id} order by run_id, position`
  ).map(({ key, status, conclusion }) => `${key}: ${conclusion ?? status}`)

async function logOf(task: { id: string }): Promise<string> {
  const chunks = await Array.fromAsync(readLog(service.context.db, Number(task.id)))
  return Buffer.concat(chunks).toString()
}

const THREE_JOBS = `
name: ci
on: push
jobs:
  first:
    runs-on: linux
    outputs: { versions: x }
    steps: [{ run: echo }]
  second:
    needs: first
    runs-on: linux
    strategy: { matrix: { v: '\${{ fromJSON(needs.first.outputs.versions) }}' } }
    steps: [{ name: say, run: echo }]
  third:
    needs: [first, second]
    runs-on: [linux]
    steps: [{ run: echo }]
`

test('a push starts a run of three jobs, which a runner brings to its end', async () => {
  const repo = await service.createRepository(owner)
  await owner.client.put(`${repo.path}/actions/secrets/PASS`, { data: 'hunter2\nsecond line' })
  await owner.client.post(`${repo.path}/actions/variables/PLACE`, { value: 'here' })
  const runner = await runnerOf(repo)
  const sha = await push(repo, THREE_JOBS)
  expect(await runsOf(repo)).toMatchObject([{ number: 1, status: 'queued', title: 'add workflow', event: 'push' }])
  expect(await jobsOf(repo)).toEqual(['first: queued', 'second: blocked', 'third: blocked'])
  expect(await statuses(repo, sha)).toEqual({
    'ci / first (push)': 'pending: Waiting to run',
    'ci / second (push)': 'pending: Blocked by required conditions',
    'ci / third (push)': 'pending: Blocked by required conditions',
  })

  const first = await runner.take()
  expect(first.workflow).toContain('"first"')
  expect(first.workflow).not.toContain('"second"')
  expect(first.body).toMatchObject({
    secrets: { PASS: 'hunter2\nsecond line', GITHUB_TOKEN: first.body.context.token, GITEA_TOKEN: expect.any(String) },
    vars: { PLACE: 'here' },
    context: {
      ...{ actor: owner.name, event_name: 'push', job: 'first', ref: 'refs/heads/main', ref_type: 'branch', sha },
      ...{ repository: `${repo.owner}/${repo.name}`, run_number: '1', run_attempt: '1', workflow: 'ci.yml' },
      event: { ref: 'refs/heads/main', after: sha, pusher: { login: owner.name } },
    },
  })
  expect((await runsOf(repo))[0]?.status).toBe('in_progress')
  expect((await statuses(repo, sha))['ci / first (push)']).toBe('pending: Has started running')
  expect(await runner.fetch()).toBeUndefined()

  expect(await runner.log(first, ['one', 'the word is hunter2', 'and second line'])).toBe(3)
  // Rows that are stored already are not stored again, and a gap is told.
  expect(await runner.log(first, ['and second line', 'four'], { index: 2 })).toBe(4)
  expect(await runner.log(first, ['nine'], { index: 9 })).toBe(4)
  const state = { startedAt: new Date().toISOString(), steps: [{ id: '0', startedAt: new Date().toISOString() }] }
  expect((await runner.update(first, state, { versions: '[1, 2]' })).body).toMatchObject({ sentOutputs: ['versions'] })
  expect(await runner.log(first, [], { index: 4, noMore: true })).toBe(4)
  const done = { result: 'RESULT_SUCCESS', stoppedAt: new Date().toISOString() }
  expect((await runner.update(first, done)).body.state).toEqual({ id: first.id, result: 'RESULT_SUCCESS' })
  // Said twice, it is the same.
  expect((await runner.update(first, { result: 'RESULT_FAILURE' })).body.state.result).toBe('RESULT_SUCCESS')
  const at = '2026-01-02T03:04:05.6789012Z'
  expect(await logOf(first)).toBe(`${at} one\n${at} the word is ***\n${at} and ***\n${at} four\n`)

  await service.drain()
  expect(await jobsOf(repo)).toEqual(['first: success', 'second[0]: queued', 'second[1]: queued', 'third: blocked'])
  for (const v of ['1', '2']) {
    const task = await runner.take()
    expect(task.workflow).toContain(v)
    expect(task.body.needs).toEqual({ first: { result: 'RESULT_SUCCESS', outputs: { versions: '[1, 2]' } } })
    await runner.end(task)
  }
  await service.drain()
  const third = await runner.take()
  expect(third.body.needs).toMatchObject({ second: { result: 'RESULT_SUCCESS' } })
  await runner.end(third)
  await service.drain()
  expect(await runsOf(repo)).toMatchObject([{ status: 'completed', conclusion: 'success' }])
  expect(await statuses(repo, sha)).toEqual({
    'ci / first (push)': expect.stringMatching(/^success: Successful in \d+s$/),
    'ci / second (push)': 'skipped: Replaced by the jobs that it stood for',
    'ci / second (1) (push)': expect.stringContaining('success'),
    'ci / second (2) (push)': expect.stringContaining('success'),
    'ci / third (push)': expect.stringContaining('success'),
  })
})

test('a job that fails skips what needs it, ends its matrix, and fails the run', async () => {
  const repo = await service.createRepository(owner)
  const runner = await runnerOf(repo)
  const matrix = 'runs-on: linux, steps: [{ run: x }], strategy: { max-parallel: 2, matrix: { v: [1, 2, 3] } }'
  await push(repo, `on: push\njobs: { a: { ${matrix} }, b: { needs: a, runs-on: linux, steps: [{ run: x }] } }`)
  expect(await jobsOf(repo)).toEqual(['a[0]: queued', 'a[1]: queued', 'a[2]: blocked', 'b: blocked'])
  const [one, other] = [await runner.take(), await runner.take()]
  expect(await runner.fetch()).toBeUndefined()
  await runner.end(one, 'RESULT_FAILURE')
  await service.drain()
  expect(await jobsOf(repo)).toEqual(['a[0]: failure', 'a[1]: in_progress', 'a[2]: cancelled', 'b: blocked'])
  // The answer tells the runner to stop, and its own word is that it did.
  expect((await runner.update(other, {})).body.state.result).toBe('RESULT_CANCELLED')
  await runner.end(other, 'RESULT_FAILURE')
  await service.drain()
  expect(await jobsOf(repo)).toEqual(['a[0]: failure', 'a[1]: cancelled', 'a[2]: cancelled', 'b: skipped'])
  expect(await runsOf(repo)).toMatchObject([{ status: 'completed', conclusion: 'failure' }])
})

test('what depends on a matrix that failed is planned also when no other job of it is at work', async () => {
  for (const strategy of ['matrix: { v: [1, 2] }', 'max-parallel: 1, matrix: { v: [1, 2] }']) {
    const repo = await service.createRepository(owner)
    const runner = await runnerOf(repo)
    const jobs = `a: { runs-on: linux, steps: [{ run: x }], strategy: { ${strategy} } }`
    await push(repo, `on: push\njobs: { ${jobs}, b: { needs: a, runs-on: linux, steps: [{ run: x }] } }`)
    await runner.end(await runner.take(), 'RESULT_FAILURE')
    await service.drain()
    expect(await jobsOf(repo)).toEqual(['a[0]: failure', 'a[1]: cancelled', 'b: skipped'])
    expect(await runsOf(repo)).toMatchObject([{ status: 'completed', conclusion: 'failure' }])
  }
})

test('a file with a problem makes a failed run that says where, and events that nothing waits for make none', async () => {
  const repo = await service.createRepository(owner)
  const sha = await push(repo, 'on: push\njobs: { a: { runs-on: linux, steps: [{ run: x }], needs: nobody } }')
  const [run] = await runsOf(repo)
  expect(run).toMatchObject({ status: 'completed', conclusion: 'failure' })
  expect(run?.error).toMatch(/^Line 2, column 7: .*no dependencies/)
  expect((await statuses(repo, sha))['ci.yml (push)']).toContain('no dependencies')
  await owner.client.post(`${repo.path}/issues`, { title: 'an issue' })
  await service.drain()
  expect(await runsOf(repo)).toHaveLength(1)
  await push(repo, 'on: push\njobs: { a: { runs-on: linux, steps: [{ run: x }] } }', 'b.yml', 'later [skip ci]')
  expect(await runsOf(repo)).toHaveLength(1)
})

test('a file whose texts cannot be stored has failed, and those beside it start', async () => {
  const repo = await service.createRepository(owner)
  const jobs = 'jobs: { a: { runs-on: linux, steps: [{ run: x }] } }'
  await push(repo, `on: [push]\nrun-name: "a\\0b"\n${jobs}`, 'nul.yml')
  await push(repo, `on: [push]\nname: whole\n${jobs}`, 'whole.yml')
  const runs = (await runsOf(repo)).map(({ conclusion, status, error }) => [conclusion ?? status, error])
  const problem = expect.stringContaining('A text holds a NUL')
  expect(runs).toEqual([
    ['failure', problem],
    ['failure', problem],
    ['queued', null],
  ])
})

test('issues, comments, branches and releases start what waits for them', async () => {
  const repo = await service.createRepository(owner)
  const jobs = 'jobs: { a: { runs-on: linux, steps: [{ run: x }] } }'
  const on = 'on: { issues: { types: [opened] }, issue_comment: , create: , delete: , release: { types: [published] } }'
  await push(repo, `${on}\n${jobs}`)
  const issue = (await owner.client.post(`${repo.path}/issues`, { title: 'an issue' })).number('number')
  await owner.client.patch(`${repo.path}/issues/${issue}`, { title: 'another' })
  await owner.client.post(`${repo.path}/issues/${issue}/comments`, { body: 'words' })
  await owner.client.post(`${repo.path}/branches`, { new_branch_name: 'side' })
  await service.drain()
  await owner.client.delete(`${repo.path}/branches/side`)
  await service.drain()
  await owner.client.post(`${repo.path}/releases`, { tag_name: 'v1', name: 'First' })
  await service.drain()
  const found = (await runsOf(repo)).map(({ event, title }) => `${event}: ${title}`)
  expect(found.sort()).toEqual(
    [
      'create: add workflow',
      'create: add workflow',
      'delete: add workflow',
      'issue_comment: another',
      'issues: an issue',
      'release: First',
    ].sort(),
  )
})

test('what is beyond the limit of a log is left out, and the log says so once', async () => {
  const repo = await service.createRepository(owner)
  const runner = await runnerOf(repo)
  await push(repo, 'on: push\njobs: { a: { runs-on: linux, steps: [{ run: x }] } }')
  const task = await runner.take()
  expect(await runner.log(task, ['x'.repeat(3000), 'y'.repeat(3000)])).toBe(2)
  expect(await runner.log(task, ['z'], { index: 2 })).toBe(3)
  const text = await logOf(task)
  expect(text.length).toBeLessThan(3200)
  expect(text.split('\n')).toEqual([expect.stringContaining('xxx'), expect.stringContaining('4096 bytes'), ''])
})

test('a runner has the jobs of its own scope and labels alone, one ephemeral has one, and nobody speaks for another', async () => {
  const [repo, other] = [await service.createRepository(owner), await service.createRepository(owner)]
  const foreign = await runnerOf(other)
  const unfit = await runnerOf(repo, { labels: ['windows'] })
  await push(
    repo,
    'on: push\njobs: { a: { runs-on: linux, steps: [{ run: x }] }, b: { runs-on: linux, steps: [{ run: x }] } }',
  )
  expect(await foreign.fetch()).toBeUndefined()
  expect(await unfit.fetch()).toBeUndefined()
  const ephemeral = await runnerOf(repo, { ephemeral: true })
  const got = (await Promise.all([1, 2, 3].map(() => ephemeral.fetch()))).filter((task) => task !== undefined)
  expect(got).toHaveLength(1)
  const task = got[0]
  for (const answer of [
    await foreign.update(task, { result: 'RESULT_SUCCESS' }),
    await foreign.send('UpdateLog', { taskId: task.id, index: '0', rows: [], noMore: true }),
  ])
    expect([answer.status, answer.body.code]).toEqual([404, 'not_found'])
  await ephemeral.end(task)
  expect((await ephemeral.update(task, {})).status).toBe(401)
  const runners = await owner.client.get(`${repo.path}/actions/runners`)
  expect(runners.number('total_count')).toBe(1)
  const idle = await runnerOf(repo)
  await owner.client.patch(`${repo.path}/actions/runners/${idle.id}`, { disabled: true })
  expect(await idle.fetch()).toBeUndefined()
})

test('a runner is busy while it has a job, and the one beside it is not', async () => {
  const repo = await service.createRepository(owner)
  const [idle, busy] = [await runnerOf(repo, { labels: ['windows'] }), await runnerOf(repo)]
  const shown = async () => {
    const at = `${repo.path}/actions/runners`
    const answers = [at, `${at}/${idle.id}`, `${at}/${busy.id}`].map((path) => owner.client.get(path))
    return (await Promise.all(answers)).map(({ body }) => body)
  }
  await push(repo, 'on: push\njobs: { a: { runs-on: linux, steps: [{ run: x }] } }')
  const task = await busy.take()
  const [not, is] = [{ busy: false }, { busy: true }]
  expect(await shown()).toMatchObject([{ runners: [not, is] }, not, is])
  await busy.end(task)
  expect(await shown()).toMatchObject([{ runners: [not, not] }, not, not])
})

test('parallel requests give each job to one runner', async () => {
  const repo = await service.createRepository(owner)
  const runners = await Promise.all(Array.from({ length: 5 }, () => runnerOf(repo)))
  await push(
    repo,
    'on: push\njobs: { a: { runs-on: linux, steps: [{ run: x }], strategy: { matrix: { v: [1, 2, 3, 4, 5, 6, 7, 8] } } } }',
  )
  const got = await Promise.all([...runners, ...runners, ...runners].map((runner) => runner.fetch()))
  const tasks = got.filter((task) => task !== undefined).map(({ workflow }) => workflow)
  expect(tasks).toHaveLength(8)
  expect(new Set(tasks).size).toBe(8)
})

test('a runner that waits is woken by a job', async () => {
  const repo = await service.createRepository(owner)
  const runner = await runnerOf(repo)
  const [task] = await Promise.all([
    runner.take(),
    push(repo, 'on: push\njobs: { a: { runs-on: linux, steps: [{ run: x }] } }'),
  ])
  expect(task.workflow).toContain('linux')
})
