import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { registerRunner } from '../../harness/runner.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../../harness/service.ts'
import { openSink, type Sink } from '../../webhooks/sink.ts'

let service: TestService
let owner: TestUser
let sink: Sink
beforeAll(async () => {
  service = await startTestService({ settings: { WEBHOOK_ALLOWED_HOSTS: 'loopback' } })
  owner = await service.createUser('owner')
  sink = await openSink()
})
afterEach(() => {
  sink.received.length = 0
})
afterAll(async () => {
  await service.stop()
  await sink.close()
})

const TWO_JOBS = `name: CI run
on: push
jobs:
  one: { name: Job one, runs-on: linux, steps: [{ name: Say, run: x }] }
  two: { needs: one, runs-on: linux, steps: [{ run: x }] }
`

async function hookedRepository(): Promise<TestRepository> {
  const repo = await service.createRepository(owner)
  const config = { url: `${sink.url}/hook`, content_type: 'json' }
  const option = { type: 'gitea', active: true, events: ['workflow_run', 'workflow_job'], config }
  expect((await owner.client.post(`${repo.path}/hooks`, option)).status).toBe(201)
  return repo
}

async function push(repo: TestRepository, text: string): Promise<string> {
  const made = await owner.client.post(`${repo.path}/contents/.gitea/workflows/ci.yml`, {
    content: btoa(text),
    message: 'add workflow',
  })
  expect(made.status).toBe(201)
  await service.drain()
  return made.string('commit.sha')
}

/** What has come, in any order: only deliveries about one run or one job keep theirs. */
function told(): string[] {
  const words = sink.received.map(({ headers, json }) => {
    const { name = 'run', status, conclusion = '' } = Object(json.workflow_job ?? json.workflow_run)
    return `${headers['x-gitea-event']} ${json.action}: ${name} ${status} ${conclusion}`.trim()
  })
  sink.received.length = 0
  return words.toSorted()
}

/** Beside the clone, like the recorded scenarios: without that folder the keys are not compared. */
const recorded = resolve(import.meta.dir, '../../../../shared/api/webhooks-samples.json')

test('a run and its jobs are told with each step that they take', async () => {
  const repo = await hookedRepository()
  const runner = await registerRunner(service.url, { owner, at: `${repo.path}/actions/runners` })
  const sha = await push(repo, TWO_JOBS)
  const requested = sink.received.find(({ json }) => json.action === 'requested')
  const api = `${service.url}/api/v1${repo.path}/actions`
  expect(requested?.json).toMatchObject({
    workflow: {
      ...{ id: 'ci.yml', name: 'CI run', path: '.gitea/workflows/ci.yml', state: 'active' },
      ...{ url: `${api}/workflows/ci.yml`, deleted_at: '0001-01-01T00:00:00Z' },
    },
    workflow_run: {
      ...{ display_title: 'add workflow', event: 'push', head_sha: sha, head_branch: 'main', status: 'queued' },
      ...{ actor: { login: 'owner' }, trigger_actor: { login: 'owner' }, repository: { id: repo.id } },
      ...{ run_number: 1, path: 'ci.yml@refs/heads/main', started_at: '1970-01-01T00:00:00Z' },
    },
    repository: { full_name: `owner/${repo.name}` },
    sender: { login: 'owner' },
  })
  const commit = await owner.client.get(`${repo.path}/git/commits/${sha}`)
  expect(Object(requested?.json.workflow).updated_at).toBe(commit.string('created'))
  if (existsSync(recorded)) {
    const samples = await Bun.file(recorded).json()
    for (const { json, headers } of sink.received) {
      const sample = samples[`gitea/${headers['x-gitea-event']}/${json.action}`].body
      expect(Object.keys(json).toSorted()).toEqual(Object.keys(sample).toSorted())
      for (const key of ['workflow', 'workflow_run', 'workflow_job'])
        if (sample[key]) expect(Object.keys(Object(json[key])).toSorted()).toEqual(Object.keys(sample[key]).toSorted())
    }
  }
  expect(told()).toEqual([
    'workflow_job queued: Job one queued',
    'workflow_job waiting: two waiting',
    'workflow_run requested: run queued',
  ])

  const one = await runner.take()
  await service.drain()
  const begun = sink.received.find(({ json }) => json.workflow_job !== undefined)?.json
  const id = Object(begun?.workflow_job).id
  expect((await owner.client.get(`${repo.path}/actions/jobs/${id}`)).body).toEqual(begun?.workflow_job)
  expect(told()).toEqual(['workflow_job in_progress: Job one in_progress', 'workflow_run in_progress: run in_progress'])

  await runner.end(one)
  await service.drain()
  const ended = sink.received.find(({ json }) => json.action === 'completed')?.json
  expect(ended?.workflow_job).toMatchObject({
    ...{ id, conclusion: 'success', run_attempt: 1, runner_id: runner.id },
    steps: [{ name: 'Say', number: 0, status: 'completed', conclusion: 'success' }],
  })
  expect(told()).toEqual(['workflow_job completed: Job one completed success', 'workflow_job queued: two queued'])

  // The run goes on: that it begins is told once.
  await runner.end(await runner.take(), 'RESULT_FAILURE')
  await service.drain()
  expect(told()).toEqual([
    'workflow_job completed: two completed failure',
    'workflow_job in_progress: two in_progress',
    'workflow_run completed: run completed failure',
  ])

  const run = (await owner.client.get(`${repo.path}/actions/runs`)).number('workflow_runs.0.id')
  expect((await service.admin.client.post(`${repo.path}/actions/runs/${run}/rerun-failed-jobs`)).status).toBe(201)
  await service.drain()
  const senders = sink.received.map(({ json }) => Object(json.sender).login)
  expect(new Set(senders)).toEqual(new Set([service.admin.name]))
  const again = sink.received.find(({ json }) => json.action === 'requested')
  expect(again?.json.workflow_run).toMatchObject({ actor: { login: 'owner' }, status: 'queued' })
  expect(told()).toEqual([
    'workflow_job queued: two queued',
    'workflow_job waiting: two waiting',
    'workflow_run requested: run queued',
  ])
  await runner.take()
  await service.drain()
  expect(told()).toEqual(['workflow_job in_progress: two in_progress', 'workflow_run in_progress: run in_progress'])
})

test('a workflow that cannot be read is told as a run that failed', async () => {
  await push(await hookedRepository(), 'on: push\njobs: 3')
  expect(told()).toEqual([
    'workflow_run completed: run completed failure',
    'workflow_run requested: run completed failure',
  ])
})

test('what was told stays what it was, also when the run is gone', async () => {
  const repo = await hookedRepository()
  await push(repo, 'on: push\njobs: 3')
  sink.received.length = 0
  const { body } = await owner.client.get(`${repo.path}/actions/runs`)
  const [run] = Object(body).workflow_runs
  // Before anybody is told: the hooks are asked for after the deletion.
  const { sql } = service.context
  await owner.client.delete(`${repo.path}/actions/runs/${run.id}`)
  await sql`delete from hook_deliveries`
  await sql`update events set fanned_out_at = null where repository_id = ${repo.id} and kind = 'workflow_run.completed'`
  await service.drain()
  const again = sink.received.find(({ json }) => json.action === 'completed')
  expect(again?.json.workflow_run).toEqual(run)
})
