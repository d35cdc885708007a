import { afterAll, beforeAll, expect, test } from 'bun:test'
import { checkRunners } from '../../../src/doctor/runners.ts'
import { fromSources, runProgram } from '../../harness/program.ts'
import { registerRunner } from '../../harness/runner.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../../harness/service.ts'

let service: TestService
let owner: TestUser
beforeAll(async () => {
  service = await startTestService()
  owner = await service.createUser()
})
afterAll(() => service.stop())

async function addWorkflow({ path }: TestRepository, file: string, text: string): Promise<number> {
  const content = btoa(`on: workflow_dispatch\n${text}`)
  const added = await owner.client.post(`${path}/contents/.gitea/workflows/${file}`, { content, message: 'add' })
  expect(added.status).toBe(201)
  return start(path, file)
}

async function start(path: string, file: string): Promise<number> {
  const at = `${path}/actions/workflows/${file}/dispatches?return_run_details=true`
  const id = (await owner.client.post(at, { ref: 'main' })).number('workflow_run_id')
  await service.drain()
  return id
}

const cancel = async ({ path }: TestRepository, run: number) => {
  expect((await owner.client.post(`${path}/actions/runs/${run}/force-cancel`, {})).status).toBeOneOf([200, 202])
  await service.drain()
}

const jobsOn = (labels: string) => `jobs: { a: { runs-on: ${labels}, steps: [{ run: x }] } }\n`
const look = () => checkRunners(service.context.sql)
const WELL = [{ subject: 'Runners', detail: expect.stringContaining('for every queued job') }]

test('queued jobs that no runner in reach fits are told of by their labels, until one is registered', async () => {
  const repo = await service.createRepository(owner)
  const other = await service.createRepository(owner)
  expect(await look()).toEqual(WELL)
  const runs = [await addWorkflow(repo, 'ci.yml', jobsOn('[linux, gpu]')), await start(repo.path, 'ci.yml')]
  const away = await registerRunner(
    service.url,
    { owner, at: `${other.path}/actions/runners` },
    { labels: ['linux', 'gpu'] },
  )
  await registerRunner(service.url, { owner, at: `${repo.path}/actions/runners` }, { labels: ['linux:host'] })
  const problem = {
    ...{ subject: 'Runners', remedy: expect.stringContaining('register a runner') },
    detail: expect.stringContaining(
      `2 queued jobs for "linux", "gpu", which no runner in reach takes; the first waits in ${owner.name}/${repo.name} since`,
    ),
  }
  expect(await look()).toEqual([problem])
  expect(away.id).toBeGreaterThan(0)

  const settings = { DATABASE_URL: service.databaseUrl, DATA_DIR: `${service.folder}/doctor` }
  const { exitCode, stdout } = await runProgram(['doctor'], settings, { program: fromSources })
  expect(stdout).toContain('FAULT  Runners: 2 queued jobs for "linux", "gpu"')
  expect(exitCode).toBe(1)

  const fitting = await registerRunner(
    service.url,
    { owner, at: '/user/actions/runners' },
    { labels: ['gpu:docker://x', 'linux', 'more'] },
  )
  expect(await look()).toEqual(WELL)
  expect((await owner.client.patch(`/user/actions/runners/${fitting.id}`, { disabled: true })).status).toBe(200)
  expect(await look()).toEqual([problem])
  for (const run of runs) await cancel(repo, run)
  expect(await look()).toEqual(WELL)
})

test('a runner for one job that has it fits for no other', async () => {
  const repo = await service.createRepository(owner)
  const runs = [await addWorkflow(repo, 'ci.yml', jobsOn('once'))]
  const runner = await registerRunner(
    service.url,
    { owner, at: `${repo.path}/actions/runners` },
    { labels: ['once'], ephemeral: true },
  )
  expect(await look()).toEqual(WELL)
  await runner.take()
  runs.push(await start(repo.path, 'ci.yml'))
  expect(await look()).toEqual([
    expect.objectContaining({ detail: expect.stringContaining('1 queued job for "once"') }),
  ])
  for (const run of runs) await cancel(repo, run)
})

test('each set of labels has a line, at most ten of them, and no label steers the terminal', async () => {
  const repo = await service.createRepository(owner)
  const many = Array.from({ length: 12 }, (_, n) => `j${n}: { runs-on: "no\\e[2Jne${n}", steps: [{ run: x }] }`)
  const run = await addWorkflow(repo, 'ci.yml', `jobs: { ${many.join(', ')} }`)
  const found = await look()
  expect(found).toHaveLength(11)
  expect(found[0]?.detail).toContain('"no?[2Jne')
  expect(found[10]?.detail).toContain('more labels')
  await cancel(repo, run)
})

test('runs that wait for each other’s turn are told of', async () => {
  const repo = await service.createRepository(owner)
  const crossed = (ours: string, theirs: string) =>
    `concurrency: ${ours}\njobs: { a: { runs-on: linux, concurrency: ${theirs}, steps: [{ run: x }] } }\n`
  const registered = await registerRunner(service.url, { owner, at: `${repo.path}/actions/runners` })
  const first = `jobs: { a: { runs-on: linux, steps: [{ run: x }] }, b: { needs: a, runs-on: linux, concurrency: two, steps: [{ run: x }] } }\n`
  const one = await addWorkflow(repo, 'one.yml', `concurrency: one\n${first}`)
  const task = await registered.take()
  const two = await addWorkflow(repo, 'two.yml', crossed('two', 'one'))
  expect(await look()).toEqual(WELL)
  await registered.end(task)
  await service.drain()
  const circle = (id: number) => ({
    ...{ subject: 'Runners', remedy: expect.stringContaining('cancel one of them') },
    detail: `run ${id} of ${owner.name}/${repo.name} waits for the turn of a run that waits for its own`,
  })
  expect(await look()).toEqual([circle(one), circle(two)])
  await cancel(repo, two)
  expect(await look()).toEqual(WELL)
})
