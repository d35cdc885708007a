import { afterAll, beforeAll, expect, test } from 'bun:test'
import { registerRunner } from '../../harness/runner.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../../harness/service.ts'

let service: TestService
let owner: TestUser
let writer: TestUser
let stranger: TestUser
beforeAll(async () => {
  service = await startTestService()
  owner = await service.createUser()
  writer = await service.createUser()
  stranger = await service.createUser()
})
afterAll(() => service.stop())

interface Shown {
  id: number
  name: string
  status: string
  conclusion?: string
  run_attempt: number
}

/** A repository with a workflow, its first run, and a runner. */
async function started(text: string, more: Record<string, string> = {}) {
  const repo = await service.createRepository(owner)
  await owner.client.put(`${repo.path}/collaborators/${writer.name}`, { permission: 'write' })
  const runner = await registerRunner(service.url, { owner, at: `${repo.path}/actions/runners` })
  for (const [name, content] of Object.entries({ ...more, 'ci.yml': text })) {
    const path = `${repo.path}/contents/.gitea/workflows/${name}`
    expect((await owner.client.post(path, { content: btoa(content), message: 'add workflow' })).status).toBe(201)
  }
  await service.drain()
  const runs = await owner.client.get(`${repo.path}/actions/runs`)
  const sha = runs.string('workflow_runs.0.head_sha')
  const run = `${repo.path}/actions/runs/${runs.number('workflow_runs.0.id')}`
  const jobs = async () => Object((await owner.client.get(`${run}/jobs`)).body).jobs as Shown[]
  return {
    ...{ repo, run, runner, sha, jobs },
    states: async () => (await jobs()).map(({ name, status, conclusion }) => `${name}: ${conclusion ?? status}`).sort(),
    idOf: async (name: string) => (await jobs()).find((job) => job.name === name)?.id,
    state: async () => {
      const { body } = await owner.client.get(run)
      return `${Object(body).status} ${Object(body).conclusion ?? ''}`.trim()
    },
    /** Takes a job, ends it, and lets the server do what follows. */
    async work(result?: string, outputs?: Record<string, string>) {
      const task = await runner.take()
      await runner.end(task, result, outputs)
      await service.drain()
      return task
    },
  }
}

async function statuses({ path }: TestRepository, sha: string): Promise<Record<string, string>> {
  const { body } = await owner.client.get(`${path}/commits/${sha}/status`, { limit: 50 })
  const all = Object(body).statuses as { context: string; status: string; description: string }[]
  return Object.fromEntries(all.map(({ context, status, description }) => [context, `${status}: ${description}`]))
}

const step = 'runs-on: linux, steps: [{ run: x }]'
const TWO = `name: ci\non: push\njobs: { a: { ${step} }, b: { needs: a, ${step} } }`
const DYNAMIC = `on: push
jobs:
  first: { ${step}, outputs: { versions: x } }
  second:
    needs: first
    strategy: { fail-fast: false, matrix: { v: '\${{ fromJSON(needs.first.outputs.versions) }}' } }
    ${step.replace(', ', '\n    ')}
  third: { needs: [first, second], ${step} }
`

test('a run that is done runs again as another attempt, once', async () => {
  const { repo, run, runner, sha, jobs, states, state, work } = await started(TWO)
  await work('RESULT_FAILURE')
  expect([await state(), await states()]).toEqual(['completed failure', ['a: failure', 'b: skipped']])
  const [before] = await jobs()
  const answers = await Promise.all([1, 2, 3].map(() => writer.client.post(`${run}/rerun`)))
  const [made, ...others] = answers.sort((one, other) => one.status - other.status)
  expect(made?.status).toBe(201)
  expect(made?.body).toMatchObject({
    ...{ status: 'queued', run_attempt: 0, run_number: 1 },
    ...{ started_at: '1970-01-01T00:00:00Z', completed_at: '1970-01-01T00:00:00Z' },
    ...{ actor: { login: owner.name }, trigger_actor: { login: writer.name } },
  })
  expect(Object(made?.body).conclusion).toBeUndefined()
  for (const refused of others)
    expect([refused.status, refused.string('message')]).toEqual([400, 'this workflow run is not done'])
  expect((await statuses(repo, sha))['ci / b (push)']).toBe('pending: Blocked by required conditions')
  await service.drain()
  expect(await states()).toEqual(['a: queued', 'b: waiting'])
  expect((await owner.client.get(`${repo.path}/actions/jobs/${before?.id}/logs`)).status).toBe(404)

  const task = await runner.take()
  expect(task.body.context).toMatchObject({
    ...{ run_attempt: '2', actor: owner.name, triggering_actor: writer.name },
  })
  expect((await jobs())[0]).toMatchObject({ id: before?.id, run_attempt: 2, status: 'in_progress' })
  await runner.end(task)
  await service.drain()
  await work()
  expect([await state(), await states()]).toEqual(['completed success', ['a: success', 'b: success']])
  expect((await jobs()).map((job) => job.run_attempt)).toEqual([2, 1])
  expect((await statuses(repo, sha))['ci / a (push)']).toStartWith('success')
})

test('of failed jobs those that failed run again with what depends on them, and the others stay', async () => {
  const { repo, run, runner, state, states, jobs, work } = await started(DYNAMIC)
  await work('RESULT_SUCCESS', { versions: '[1, 2]' })
  await work('RESULT_SUCCESS')
  await work('RESULT_FAILURE')
  expect(await states()).toEqual(['first: success', 'second (1): success', 'second (2): failure', 'third: skipped'])
  const ids = (await jobs()).map(({ id }) => id).sort()
  const again = await owner.client.post(`${run}/rerun-failed-jobs`)
  expect([again.status, again.text]).toEqual([201, ''])
  await service.drain()
  expect(await states()).toEqual(['first: success', 'second (1): success', 'second (2): queued', 'third: waiting'])
  const kept = (await jobs()).find(({ name }) => name === 'first')
  expect((await owner.client.get(`${repo.path}/actions/jobs/${kept?.id}/logs`)).text).toContain('done')
  const second = await runner.take()
  expect(second.body.needs).toEqual({ first: { result: 'RESULT_SUCCESS', outputs: { versions: '[1, 2]' } } })
  await runner.end(second)
  await service.drain()
  const third = await work()
  expect(third.body.needs).toMatchObject({ first: { outputs: { versions: '[1, 2]' } } })
  expect(await state()).toBe('completed success')
  expect((await jobs()).map(({ id }) => id).sort()).toEqual(ids)
  const none = await owner.client.post(`${run}/rerun-failed-jobs`)
  expect([none.status, none.string('message')]).toEqual([400, 'this workflow run has no failed jobs'])
})

test('jobs that are made of outputs keep their numbers, and one that is no longer made is skipped', async () => {
  const { run, state, states, idOf, work } = await started(DYNAMIC)
  await work('RESULT_SUCCESS', { versions: '[1, 2]' })
  for (let job = 0; job < 3; job += 1) await work()
  const id = await idOf('second (1)')
  await owner.client.post(`${run}/rerun`)
  await service.drain()
  expect(await states()).toEqual([
    ...['first: queued', 'second (1): waiting', 'second (2): waiting', 'second: waiting', 'third: waiting'],
  ])
  await work('RESULT_SUCCESS', { versions: '[1]' })
  expect(await idOf('second (1)')).toBe(id)
  expect(await states()).toEqual(['first: success', 'second (1): queued', 'second (2): skipped', 'third: waiting'])
  await work()
  await work()
  expect(await state()).toBe('completed success')
})

test('one job runs again with what depends on it, beside a sibling that has failed before', async () => {
  const matrix = `strategy: { matrix: { v: [1, 2] } }, ${step}`
  const { run, runner, state, states, idOf, work } = await started(
    `on: push\njobs: { a: { ${matrix} }, b: { needs: a, ${step} }, c: { ${step} } }`,
  )
  const [one, two] = [await runner.take(), await runner.take()]
  await runner.end(two)
  await runner.end(one, 'RESULT_FAILURE')
  await service.drain()
  await work()
  expect(await states()).toEqual(['a (1): failure', 'a (2): success', 'b: skipped', 'c: success'])
  const made = await owner.client.post(`${run}/jobs/${await idOf('a (2)')}/rerun`)
  expect([made.status, made.string('name'), made.string('status')]).toEqual([201, 'a (2)', 'waiting'])
  await service.drain()
  expect(await states()).toEqual(['a (1): failure', 'a (2): queued', 'b: waiting', 'c: success'])
  await work()
  expect(await states()).toEqual(['a (1): failure', 'a (2): success', 'b: skipped', 'c: success'])
  expect(await state()).toBe('completed failure')
})

test('jobs of a called workflow follow what their caller needs, and their callers’ followers follow them', async () => {
  const called = `on: workflow_call\njobs: { x: { ${step} }, y: { needs: x, ${step} }, z: { ${step} } }`
  const { run, states, idOf, work } = await started(
    `on: push\njobs: { a: { ${step} }, call: { needs: a, uses: ./.gitea/workflows/c.yml }, b: { needs: call, ${step} } }`,
    { 'c.yml': called },
  )
  for (let job = 0; job < 5; job += 1) await work()
  const all = ['a', 'b', 'call / x', 'call / y', 'call / z']
  expect(await states()).toEqual(all.map((name) => `${name}: success`))
  await owner.client.post(`${run}/jobs/${await idOf('call / x')}/rerun`)
  await service.drain()
  expect(await states()).toEqual([
    ...['a: success', 'b: waiting', 'call / x: queued', 'call / y: waiting', 'call / z: success'],
  ])
  for (let job = 0; job < 3; job += 1) await work()
  await owner.client.post(`${run}/jobs/${await idOf('a')}/rerun`)
  await service.drain()
  expect((await states()).filter((state) => !state.startsWith('call:'))).toEqual([
    ...['a: queued', 'b: waiting', 'call / x: waiting', 'call / y: waiting', 'call / z: waiting'],
  ])
  for (let job = 0; job < 5; job += 1) await work()
  expect(await states()).toEqual(all.map((name) => `${name}: success`))
})

test('a run that is cancelled ends with its runner, and does what it does always', async () => {
  const { run, runner, state, states, work } = await started(
    `on: push\njobs: { a: { ${step} }, b: { ${step} }, c: { needs: a, ${step} }, last: { needs: a, if: always(), ${step} } }`,
  )
  const task = await runner.take()
  for (let time = 0; time < 2; time += 1) {
    const asked = await writer.client.post(`${run}/cancel`)
    expect([asked.status, asked.string('status')]).toEqual([200, 'in_progress'])
  }
  await service.drain()
  expect(await states()).toEqual(['a: in_progress', 'b: cancelled', 'c: waiting', 'last: waiting'])
  expect((await runner.update(task, {})).body.state.result).toBe('RESULT_CANCELLED')
  await runner.end(task, 'RESULT_FAILURE')
  await service.drain()
  expect(await states()).toEqual(['a: cancelled', 'b: cancelled', 'c: cancelled', 'last: queued'])
  await work()
  expect([await state(), (await states())[3]]).toEqual(['completed cancelled', 'last: success'])
  const late = await owner.client.post(`${run}/cancel`)
  expect([late.status, late.string('message')]).toEqual([409, 'this workflow run is done'])
  // Cancelled jobs are among those that did not succeed.
  expect((await owner.client.post(`${run}/rerun-failed-jobs`)).status).toBe(201)
  await service.drain()
  expect(await states()).toEqual(['a: queued', 'b: queued', 'c: waiting', 'last: waiting'])
  for (let job = 0; job < 4; job += 1) await work()
  expect(await state()).toBe('completed success')
})

test('a run that nobody has begun is cancelled with the next plan', async () => {
  const { run, runner, state, states } = await started(TWO)
  expect((await owner.client.post(`${run}/cancel`)).string('status')).toBe('queued')
  await service.drain()
  expect([await state(), await states()]).toEqual(['completed cancelled', ['a: cancelled', 'b: cancelled']])
  expect(await runner.fetch()).toBeUndefined()
})

test('a run is ended by force at once, and what its runner says then is not kept', async () => {
  const { repo, run, states, idOf } = await started(
    `on: push\njobs: { a: { ${step} }, b: { ${step} }, last: { needs: a, if: always(), ${step} } }`,
  )
  const at = `${repo.path}/actions/runners`
  const ephemeral = await registerRunner(service.url, { owner, at }, { ephemeral: true })
  const task = await ephemeral.take()
  await ephemeral.log(task, ['begun'])
  const ended = await writer.client.post(`${run}/force-cancel`)
  expect(ended.status).toBe(200)
  expect(ended.body).toMatchObject({ status: 'completed', conclusion: 'cancelled' })
  expect(await states()).toEqual(['a: cancelled', 'b: cancelled', 'last: cancelled'])
  const { text } = await owner.client.get(`${repo.path}/actions/jobs/${await idOf('a')}/logs`)
  expect(text).toMatch(/begun\n.* The run was cancelled by force\n$/)
  expect((await owner.client.get(at)).number('total_count')).toBe(1)
  expect((await owner.client.post(`${run}/force-cancel`)).status).toBe(409)
  await service.drain()
  expect(await states()).toEqual(['a: cancelled', 'b: cancelled', 'last: cancelled'])
})

test('a runner that is at work learns of the end by force', async () => {
  const { run, runner, state } = await started(TWO)
  const task = await runner.take()
  await owner.client.post(`${run}/force-cancel`)
  const answer = await runner.update(task, { result: 'RESULT_SUCCESS' })
  expect(answer.body.state.result).toBe('RESULT_CANCELLED')
  await service.drain()
  expect(await state()).toBe('completed cancelled')
})

const OPERATIONS = ['rerun', 'rerun-failed-jobs', 'jobs/JOB/rerun', 'cancel', 'force-cancel']

test('writers alone steer runs of their own repository', async () => {
  const { repo, run, idOf, work } = await started(TWO)
  await work('RESULT_FAILURE')
  const other = await started(TWO)
  const job = await idOf('a')
  const at = (base: string) => OPERATIONS.map((operation) => `${base}/${operation.replace('JOB', String(job))}`)
  const ask = async (client: TestUser['client'], paths: string[]) => {
    const answers = []
    for (const path of paths) answers.push((await client.post(path)).status)
    return answers
  }
  const all = (status: number) => OPERATIONS.map(() => status)
  expect(await ask(service.anonymous, at(run))).toEqual(all(401))
  expect(await ask(stranger.client, at(run))).toEqual(all(403))
  const number = run.split('/').at(-1)
  expect(await ask(owner.client, at(`${other.repo.path}/actions/runs/${number}`))).toEqual(all(404))
  for (const wrong of ['0', 'abc', '999999999'])
    expect(await ask(owner.client, at(`${repo.path}/actions/runs/${wrong}`))).toEqual(all(404))
  // A job of another run, and one that does not exist.
  for (const wrong of [await other.idOf('a'), 'abc', '999999999'])
    expect((await owner.client.post(`${run}/jobs/${wrong}/rerun`)).status).toBe(404)
  await owner.client.patch(repo.path, { archived: true })
  expect(await ask(owner.client, at(run))).toEqual(all(423))
  await owner.client.patch(repo.path, { archived: false, private: true })
  expect(await ask(stranger.client, at(run))).toEqual(all(404))
})

test('what is not done, is disabled or never began does not run again', async () => {
  const { repo, run, idOf, work } = await started(TWO)
  const again = OPERATIONS.filter((operation) => operation.includes('rerun'))
  const job = await idOf('a')
  const ask = async (base: string) => {
    const answers = []
    for (const path of again) answers.push(await owner.client.post(`${base}/${path.replace('JOB', String(job))}`))
    return answers.map((answer) => `${answer.status} ${answer.string('message')}`)
  }
  expect(new Set(await ask(run))).toEqual(new Set(['400 this workflow run is not done']))
  await work('RESULT_FAILURE')
  await owner.client.put(`${repo.path}/actions/workflows/ci.yml/disable`)
  expect(new Set(await ask(run))).toEqual(new Set(['400 workflow ci.yml is disabled']))
  const path = `${repo.path}/contents/.gitea/workflows/bad.yml`
  await owner.client.post(path, { content: btoa('on: push\njobs: {'), message: 'bad' })
  await service.drain()
  const id = (await owner.client.get(`${repo.path}/actions/runs`)).number('workflow_runs.0.id')
  for (const answer of (await ask(`${repo.path}/actions/runs/${id}`)).slice(0, 2))
    expect(answer).toStartWith('422 this workflow run cannot run again: Line ')
  expect((await owner.client.post(`${repo.path}/actions/runs/${id}/cancel`)).status).toBe(409)
})
