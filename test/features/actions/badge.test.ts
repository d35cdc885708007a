import { afterAll, beforeAll, expect, test } from 'bun:test'
import { registerRunner, type TestRunner } from '../../harness/runner.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../../harness/service.ts'

let service: TestService
let owner: TestUser
beforeAll(async () => {
  service = await startTestService()
  owner = await service.createUser()
})
afterAll(() => service.stop())

const addressOf = ({ owner, name }: TestRepository, file = 'ci.yml') =>
  `${service.url}/${owner}/${name}/actions/workflows/${encodeURIComponent(file)}/badge.svg`

/** What a screen reader says of the picture. */
async function titleAt(url: string): Promise<string | undefined> {
  const answer = await fetch(url)
  expect(answer.status).toBe(200)
  return /<title>(.*)<\/title>/.exec(await answer.text())?.[1]
}

async function addWorkflow({ path }: TestRepository, branch?: string) {
  const text = 'on: [push, workflow_dispatch]\njobs: { one: { runs-on: linux, steps: [{ run: x }] } }\n'
  const option = { content: btoa(text), message: 'add workflow', ...(branch && { new_branch: branch }) }
  expect((await owner.client.post(`${path}/contents/.gitea/workflows/ci.yml`, option)).status).toBe(201)
  await service.drain()
}

async function end(runner: TestRunner, result?: string) {
  await runner.end(await runner.take(), result)
  await service.drain()
}

test('it shows the newest completed run of the workflow, by branch and event', async () => {
  const repo = await service.createRepository(owner, { auto_init: true })
  const at = addressOf(repo)
  expect(await titleAt(at)).toBe('ci: no status')

  await addWorkflow(repo)
  expect(await titleAt(at)).toBe('ci: no status')
  const runner = await registerRunner(service.url, { owner, at: `${repo.path}/actions/runners` })
  await end(runner)
  expect(await titleAt(at)).toBe('ci: passing')

  const dispatch = () => owner.client.post(`${repo.path}/actions/workflows/ci.yml/dispatches`, { ref: 'main' })
  expect((await dispatch()).status).toBe(204)
  await service.drain()
  expect(await titleAt(at)).toBe('ci: passing')
  await end(runner, 'RESULT_FAILURE')
  expect(await titleAt(at)).toBe('ci: failing')
  expect(await titleAt(`${at}?branch=main&event=push`)).toBe('ci: passing')
  expect(await titleAt(`${at}?event=workflow_dispatch`)).toBe('ci: failing')
  expect(await titleAt(`${at}?branch=other`)).toBe('ci: no status')
  expect(await titleAt(addressOf(repo, 'other.yaml'))).toBe('other: no status')
})

test('badge_url of a workflow leads to it', async () => {
  const repo = await service.createRepository(owner, { auto_init: true })
  await addWorkflow(repo)
  const named = (await owner.client.get(`${repo.path}/actions/workflows/ci.yml`)).string('badge_url')
  const { pathname, search } = new URL(named)
  expect(await titleAt(service.url + pathname + search)).toBe('ci: no status')
})

test('a proxy of pictures asks each time, and gets it anew only when it has changed', async () => {
  const repo = await service.createRepository(owner, { auto_init: true })
  await addWorkflow(repo)
  const first = await fetch(addressOf(repo))
  const etag = first.headers.get('etag') ?? ''
  expect(first.headers.get('cache-control')).toBe('no-cache')
  expect(first.headers.get('content-type')).toBe('image/svg+xml; charset=utf-8')
  expect(first.headers.get('content-security-policy')).toContain('sandbox')
  const again = () => fetch(addressOf(repo), { headers: { 'if-none-match': etag } })
  expect((await again()).status).toBe(304)
  await end(await registerRunner(service.url, { owner, at: `${repo.path}/actions/runners` }))
  expect((await again()).status).toBe(200)
})

test('what may not be seen is as what does not exist', async () => {
  const hidden = await service.createRepository(owner, { private: true, auto_init: true })
  const off = await service.createRepository(owner, { auto_init: true })
  expect((await owner.client.patch(off.path, { has_actions: false })).status).toBe(200)
  const answer = async (url: string, token?: string) => {
    const given = await fetch(url, token === undefined ? {} : { headers: { authorization: `token ${token}` } })
    return { status: given.status, text: (await given.text()).replace(/"request_id":"[^"]+"/, '') }
  }
  const absent = await answer(addressOf({ ...hidden, name: 'absent' }))
  expect(absent.status).toBe(404)
  expect(await answer(addressOf(hidden))).toEqual(absent)
  expect(await answer(addressOf(off))).toEqual(absent)
  expect((await answer(addressOf(hidden), owner.token)).status).toBe(200)
  expect((await answer(addressOf(hidden), 'a'.repeat(40))).status).toBe(401)
})

test('a name means itself, and names that no workflow has are not there', async () => {
  const repo = await service.createRepository(owner, { auto_init: true })
  const text = await (await fetch(addressOf(repo, `"><script>'&\u0001\u0085界.yml`))).text()
  expect(text).toContain('<title>&#34;&gt;&lt;script&gt;&#39;&amp;\ufffd\ufffd界: no status</title>')
  expect(text).not.toContain('<script')
  for (const file of ['ci', 'ci.svg', '.yml', 'a/b.yml', 'a\0.yml'])
    expect([file, (await fetch(addressOf(repo, file))).status]).toEqual([file, 404])
  expect((await fetch(`${addressOf(repo)}?branch=%00`)).status).toBeLessThan(500)
  expect((await fetch(addressOf(repo), { method: 'POST' })).status).toBe(405)
})
