import { afterAll, beforeAll, expect, test } from 'bun:test'
import { registerRunner } from '../../harness/runner.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../../harness/service.ts'

let service: TestService
let owner: TestUser
let stranger: TestUser
beforeAll(async () => {
  service = await startTestService()
  owner = await service.createUser()
  stranger = await service.createUser()
})
afterAll(() => service.stop())

const JOB = 'jobs: { a: { runs-on: linux, steps: [{ run: x }] } }'
const INPUTS = `
    inputs:
      text: { type: string, default: hello }
      must: { required: true }
      flag: { type: boolean }
      level: { type: choice, options: [info, debug] }
      count: { type: number }`

/** A repository with workflow files, by name. */
async function withFiles(files: Record<string, string>): Promise<TestRepository & { workflows: string }> {
  const repo = await service.createRepository(owner)
  for (const [name, text] of Object.entries(files)) {
    const path = `${repo.path}/contents/.gitea/workflows/${name}`
    expect((await owner.client.post(path, { content: btoa(text), message: `add ${name}` })).status).toBe(201)
  }
  await service.drain()
  return { ...repo, workflows: `${repo.path}/actions/workflows` }
}

const eventsOf = async (repo: TestRepository) => {
  const { body } = await owner.client.get(`${repo.path}/actions/runs`)
  return (Object(body).workflow_runs as { event: string }[]).map(({ event }) => event)
}

test('workflows of the default branch are shown, those with problems too', async () => {
  const repo = await withFiles({
    'b.yml': `name: second\non: push\n${JOB}`,
    'a.yaml': `on: push\n${JOB}`,
    'c.yml': 'on: push\njobs: {',
    'notes.txt': 'x',
  })
  const { body } = await owner.client.get(repo.workflows)
  expect(Object(body).total_count).toBe(3)
  expect(Object(body).workflows).toMatchObject([
    { id: 'a.yaml', name: 'a.yaml', state: 'active' },
    { id: 'b.yml', name: 'second', path: '.gitea/workflows/b.yml', deleted_at: '0001-01-01T00:00:00Z' },
    { id: 'c.yml', name: 'c.yml' },
  ])
  const one = await stranger.client.get(`${repo.workflows}/b.yml`)
  expect(one.body).toEqual(Object(body).workflows[1])
  expect(one.string('html_url')).toEndWith(`/${owner.name}/${repo.name}/src/branch/main/.gitea/workflows/b.yml`)
  expect(one.string('badge_url')).toEndWith('/actions/workflows/b.yml/badge.svg?branch=main')
  const times = await owner.client.get(`${repo.path}/commits`, { path: '.gitea/workflows/b.yml' })
  expect(Date.parse(one.string('updated_at'))).toBe(Date.parse(times.string('0.created')))
  expect((await owner.client.get(`${repo.workflows}/notes.txt`)).status).toBe(404)
})

test('a repository without commits or workflows has none', async () => {
  for (const option of [{ auto_init: false }, { auto_init: true }]) {
    const repo = await service.createRepository(owner, option)
    const listed = await owner.client.get(`${repo.path}/actions/workflows`)
    expect(listed.body).toEqual({ workflows: [], total_count: 0 })
    expect((await owner.client.get(`${repo.path}/actions/workflows/a.yml`)).status).toBe(404)
  }
})

test('a disabled workflow is started by nothing until it is enabled', async () => {
  const repo = await withFiles({ 'ci.yml': `on: [push, workflow_dispatch]\n${JOB}`, 'other.yml': `on: push\n${JOB}` })
  const before = (await eventsOf(repo)).length
  const at = `${repo.workflows}/ci.yml`
  for (let time = 0; time < 2; time += 1) expect((await owner.client.put(`${at}/disable`)).status).toBe(204)
  expect((await owner.client.get(at)).string('state')).toBe('disabled_manually')
  await owner.client.post(`${repo.path}/contents/x.txt`, { content: btoa('x'), message: 'x' })
  await service.drain()
  // Only the other workflow.
  expect(await eventsOf(repo)).toHaveLength(before + 1)
  const refused = await owner.client.post(`${at}/dispatches`, { ref: 'main' })
  expect([refused.status, refused.string('message')]).toEqual([403, 'workflow is disabled'])
  for (let time = 0; time < 2; time += 1) expect((await owner.client.put(`${at}/enable`)).status).toBe(204)
  expect((await owner.client.get(at)).string('state')).toBe('active')
  await owner.client.post(`${repo.path}/contents/y.txt`, { content: btoa('y'), message: 'y' })
  await service.drain()
  expect(await eventsOf(repo)).toHaveLength(before + 3)
  const { sql } = service.context
  const trail =
    await sql`select action, subject_name from audit_entries where subject_kind = 'actions_workflow' order by id`
  expect(trail.map(({ action, subject_name }) => `${action} ${subject_name}`)).toEqual([
    'actions_workflow.disable ci.yml',
    'actions_workflow.enable ci.yml',
  ])
})

test('a dispatch starts a run whose jobs have the inputs, as they are declared and as texts', async () => {
  const repo = await withFiles({ 'ci.yml': `on:\n  workflow_dispatch:${INPUTS}\nrun-name: By hand\n${JOB}` })
  const at = `${repo.workflows}/ci.yml/dispatches`
  const inputs = { MUST: 'x', flag: 'true', level: 'debug', count: '2.5' }
  const made = await owner.client.post(`${at}?return_run_details=true`, { ref: 'main', inputs })
  const id = made.number('workflow_run_id')
  expect(made.status).toBe(200)
  expect(made.string('run_url')).toEndWith(`${repo.path}/actions/runs/${id}`)
  expect(made.string('html_url')).toEndWith(`/${owner.name}/${repo.name}/actions/runs/${id}`)
  const shown = await owner.client.get(`${repo.path}/actions/runs/${id}`)
  expect(shown.body).toMatchObject({
    ...{ event: 'workflow_dispatch', display_title: 'By hand', path: 'ci.yml@refs/heads/main', status: 'queued' },
    trigger_actor: { login: owner.name },
  })
  const runner = await registerRunner(service.url, { owner, at: `${repo.path}/actions/runners` })
  const { context } = (await runner.take()).body
  expect(context).toMatchObject({
    event_name: 'workflow_dispatch',
    event: {
      inputs: { text: 'hello', must: 'x', flag: 'true', level: 'debug', count: '2.5' },
      ...{ ref: 'refs/heads/main', workflow: 'ci.yml', repository: { id: repo.id }, sender: { login: owner.name } },
    },
  })
  const [row] = await service.context.sql`select inputs from actions_runs where id = ${id}`
  expect(row?.inputs).toEqual({ text: 'hello', must: 'x', flag: true, level: 'debug', count: 2.5 })
  const plain = await owner.client.post(at, { ref: 'main', inputs: { must: 'x', flag: true, count: 3 } })
  expect([plain.status, plain.text]).toEqual([204, ''])
})

test('the ref is a branch, a tag or a full name, and the file is the one that is there', async () => {
  const repo = await withFiles({ 'ci.yml': `on: workflow_dispatch\n${JOB}` })
  await owner.client.post(`${repo.path}/tags`, { tag_name: 'v1', target: 'main' })
  await owner.client.post(`${repo.path}/branches`, { new_branch_name: 'side' })
  const path = `${repo.path}/contents/.gitea/workflows/late.yml`
  const late = { content: btoa(`on: workflow_dispatch\n${JOB}`), message: 'late', branch: 'side' }
  await owner.client.post(path, late)
  const dispatch = (file: string, ref: string) => owner.client.post(`${repo.workflows}/${file}/dispatches`, { ref })
  for (const ref of ['main', 'side', 'v1', 'refs/heads/main', 'refs/tags/v1'])
    expect([ref, (await dispatch('ci.yml', ref)).status]).toEqual([ref, 204])
  const { body } = await owner.client.get(`${repo.path}/actions/runs`)
  const paths = (Object(body).workflow_runs as { path: string }[]).map((run) => run.path)
  const refs = ['refs/heads/main', 'refs/heads/side', 'refs/tags/v1', 'refs/heads/main', 'refs/tags/v1']
  expect(paths.reverse()).toEqual(refs.map((ref) => `ci.yml@${ref}`))
  expect((await dispatch('late.yml', 'side')).status).toBe(204)
  for (const [file, ref, message] of [
    ['late.yml', 'main', 'workflow "late.yml" doesn\'t exist'],
    ['ci.yml', 'nosuch', 'ref "nosuch" doesn\'t exist'],
    ['ci.yml', 'refs/tags/main', 'ref "refs/tags/main" doesn\'t exist'],
    ['ci.yml', 'HEAD', 'ref "HEAD" doesn\'t exist'],
    ['ci.yml', 'main~1', 'ref "main~1" doesn\'t exist'],
    ['ci.yml', '--help', 'ref "--help" doesn\'t exist'],
  ] as const) {
    const refused = await dispatch(file, ref)
    expect([refused.status, refused.string('message')]).toEqual([404, message])
  }
})

test('what cannot be dispatched is refused, and starts nothing', async () => {
  const repo = await withFiles({
    'ci.yml': `on:\n  workflow_dispatch:${INPUTS}\n${JOB}`,
    'push.yml': `on: issues\n${JOB}`,
    'broken.yml': 'on: workflow_dispatch\njobs: {',
  })
  const before = await eventsOf(repo)
  const tries: [string, object, number, RegExp][] = [
    ['ci.yml', {}, 422, /^\[Ref\]: Required$/],
    ['ci.yml', { ref: '' }, 422, /^\[Ref\]: Required$/],
    ['ci.yml', { ref: 7 }, 422, /^\[Ref\]/],
    ['ci.yml', { ref: 'main', inputs: 'x' }, 422, /^\[Inputs\]/],
    ['ci.yml', { ref: 'main', inputs: { must: ['x'] } }, 422, /^\[Inputs/],
    ['ci.yml', { ref: 'main' }, 422, /The input `must` is required\./],
    ['ci.yml', { ref: 'main', inputs: { must: 'x', level: 'loud' } }, 422, /one of `info`, `debug`/],
    ['ci.yml', { ref: 'main', inputs: { must: 'x', other: 'x' } }, 422, /no input `other`/],
    ['push.yml', { ref: 'main' }, 422, /no `workflow_dispatch`/],
    ['broken.yml', { ref: 'main' }, 422, /./],
    ['nosuch.yml', { ref: 'main' }, 404, /doesn't exist/],
  ]
  for (const [file, body, status, message] of tries) {
    const refused = await owner.client.post(`${repo.workflows}/${file}/dispatches`, body)
    expect([file, body, refused.status]).toEqual([file, body, status])
    expect(refused.string('message')).toMatch(message)
  }
  for (const change of ['disable', 'enable'])
    expect((await owner.client.put(`${repo.workflows}/nosuch.yml/${change}`)).status).toBe(404)
  expect(await eventsOf(repo)).toEqual(before)
})

test('writers alone steer, and what is hidden or switched off does not exist', async () => {
  const repo = await withFiles({ 'ci.yml': `on: workflow_dispatch\n${JOB}` })
  const at = `${repo.workflows}/ci.yml`
  const all = (client: TestUser['client']) =>
    Promise.all([
      client.get(repo.workflows),
      client.get(at),
      client.put(`${at}/disable`),
      client.put(`${at}/enable`),
      client.post(`${at}/dispatches`, { ref: 'main' }),
    ])
  const statuses = async (client: TestUser['client']) => (await all(client)).map(({ status }) => status)
  expect(await statuses(service.anonymous)).toEqual([401, 401, 401, 401, 401])
  expect(await statuses(stranger.client)).toEqual([200, 200, 403, 403, 403])
  await owner.client.patch(repo.path, { private: true })
  expect(await statuses(stranger.client)).toEqual([404, 404, 404, 404, 404])
  await owner.client.patch(repo.path, { has_actions: false })
  expect(await statuses(owner.client)).toEqual([404, 404, 404, 404, 404])
  await owner.client.patch(repo.path, { has_actions: true, archived: true })
  expect(await statuses(owner.client)).toEqual([200, 200, 423, 423, 423])
})

/** The last one: no workflow is read after it. */
test('while the threads take no work, the client may try again', async () => {
  const repo = await withFiles({ 'ci.yml': `on: workflow_dispatch\n${JOB}` })
  service.context.workflows.stop()
  for (const refused of [
    await owner.client.get(repo.workflows),
    await owner.client.post(`${repo.workflows}/ci.yml/dispatches`, { ref: 'main' }),
  ]) {
    expect([refused.status, refused.string('message')]).toEqual([503, 'too much work waits, try again'])
    expect(refused.headers.get('retry-after')).toBe('5')
  }
  expect(await eventsOf(repo)).toEqual([])
})
