import { afterAll, beforeAll, expect, test } from 'bun:test'
import { loadConfig } from '../../../src/config.ts'
import { sha256Hex } from '../../../src/kernel/hashing.ts'
import { type Service, startService } from '../../../src/service.ts'
import { createClient } from '../../harness/client.ts'
import { type RunnerTask, registerRunner } from '../../harness/runner.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../../harness/service.ts'

/** Two replicas on one database. */
let service: TestService
let other: Service
let owner: TestUser
beforeAll(async () => {
  service = await startTestService()
  const config = loadConfig({
    PORT: '0',
    DATA_DIR: `${service.folder}/data`,
    REPOSITORIES_DIR: `${service.folder}/data/repositories`,
    DATABASE_URL: service.databaseUrl,
    LOG_LEVEL: 'fatal',
  })
  other = await startService(config, { worksJobs: false })
  owner = await service.createUser()
})
afterAll(async () => {
  await other.stop()
  await service.stop()
})

const INSIDE = { private: true, auto_init: true }

/** A private repository whose job a runner has taken. `permissions`: as they stand in the workflow. */
async function startJob(permissions?: string) {
  const repo = await service.createRepository(owner, INSIDE)
  const said = permissions === undefined ? '' : `permissions: ${permissions}`
  const text = `name: ci\non: push\n${said}\njobs:\n  one:\n    runs-on: linux\n    steps: [{ run: echo }]\n`
  const path = `${repo.path}/contents/.gitea/workflows/ci.yml`
  expect((await owner.client.post(path, { content: btoa(text), message: 'add workflow' })).status).toBe(201)
  await service.drain()
  const runner = await registerRunner(service.url, { owner, at: `${repo.path}/actions/runners` })
  const task = await runner.take()
  return { repo, runner, task, token: tokenOf(task), client: service.client({ token: tokenOf(task) }) }
}

const tokenOf = ({ body }: RunnerTask): string => String(body.secrets.GITEA_TOKEN)

/** As actions/checkout does it. */
const bearing = (token: string) => `http.extraHeader=Authorization: Basic ${btoa(`x-access-token:${token}`)}`

const clone = (token: string, { cloneUrl }: TestRepository, folder: string = crypto.randomUUID()) =>
  service.git.run(['-c', bearing(token), 'clone', '-q', cloneUrl, folder])

const statusOf = async (client: TestService['anonymous'], path: string) => (await client.get(path)).status

test('the real git checks a private repository out while the job runs, and not afterwards', async () => {
  const { repo, runner, task, token } = await startJob()
  const folder = crypto.randomUUID()
  expect(await clone(token, repo, folder)).toMatchObject({ exitCode: 0 })
  expect(
    await service.git(['show', 'HEAD:.gitea/workflows/ci.yml'], { cwd: `${service.git.folder}/${folder}` }),
  ).toContain('name: ci')
  await runner.end(task)
  const late = await clone(token, repo)
  expect(late.exitCode).not.toBe(0)
  expect(late.stderr).toContain('Authentication failed')
})

test('every replica reads by the token at once, and refuses it with the end of the task', async () => {
  const { repo, runner, task, token } = await startJob()
  const clients = [service.url, other.url].map((url) => createClient({ url, credential: { token } }))
  const both = (path: string) => Promise.all(clients.map((client) => statusOf(client, path)))
  expect(await both(repo.path)).toEqual([200, 200])
  expect(await both('/version')).toEqual([200, 200])
  await runner.end(task)
  expect(await both(repo.path)).toEqual([401, 401])
  expect(await both('/version')).toEqual([401, 401])
})

test('the token ends with a cancelled task, and with the repository', async () => {
  const { runner, task, client, repo } = await startJob()
  await runner.end(task, 'RESULT_CANCELLED')
  expect(await statusOf(client, repo.path)).toBe(401)
  const next = await startJob()
  expect((await owner.client.delete(next.repo.path)).status).toBe(204)
  expect(await statusOf(next.client, '/version')).toBe(401)
})

test('a job that says nothing reads contents; one that says something reads that', async () => {
  const parts = (path: string) => [`${path}/contents`, `${path}/releases`, `${path}/issues`, `${path}/actions/runs`]
  const expected: [string | undefined, number[]][] = [
    [undefined, [200, 200, 404, 404]],
    ['{ contents: read, issues: read }', [200, 200, 200, 404]],
    ['{ contents: write, releases: none }', [200, 404, 404, 404]],
    ['{ issues: write, actions: read }', [404, 404, 200, 200]],
    ['read-all', [200, 200, 200, 200]],
    ['{}', [404, 404, 404, 404]],
  ]
  for (const [permissions, statuses] of expected) {
    const { repo, client, token } = await startJob(permissions)
    const found = await Promise.all(parts(repo.path).map((path) => statusOf(client, path)))
    expect({ permissions, found }).toEqual({ permissions, found: statuses })
    expect((await clone(token, repo)).exitCode === 0).toBe(statuses[0] === 200)
  }
})

test('other private repositories are not there, public ones are, and its own is in the lists', async () => {
  const { repo, client, token } = await startJob('read-all')
  const hidden = await service.createRepository(owner, INSIDE)
  const open = await service.createRepository(owner, { auto_init: true })
  expect((await client.get(hidden.path)).status).toBe(404)
  expect((await clone(token, hidden)).stderr).toContain('not found')
  expect(await statusOf(client, `${open.path}/contents`)).toBe(200)
  expect(await clone(token, open)).toMatchObject({ exitCode: 0 })
  const found = await client.get('/repos/search', { limit: 50 })
  const names = (Object(found.body).data as { name: string }[]).map(({ name }) => name)
  expect(names).toContain(repo.name)
  expect(names).toContain(open.name)
  expect(names).not.toContain(hidden.name)
})

test('files outside the API are read by the same rule', async () => {
  const { repo, runner, task, token } = await startJob()
  const hidden = await service.createRepository(owner, INSIDE)
  const page = async ({ name }: TestRepository) =>
    (
      await fetch(`${service.url}/${owner.name}/${name}/raw/branch/main/README.md`, {
        headers: { authorization: `token ${token}` },
      })
    ).status
  expect([await page(repo), await page(hidden)]).toEqual([200, 404])
  await runner.end(task)
  expect([await page(repo), await page(hidden)]).toEqual([401, 401])
})

test('it changes nothing, whatever its job asks for', async () => {
  const { repo, client, token } = await startJob('write-all')
  const open = await service.createRepository(owner, { auto_init: true })
  const folder = crypto.randomUUID()
  await clone(token, repo, folder)
  const cwd = `${service.git.folder}/${folder}`
  await service.git(['commit', '-q', '--allow-empty', '-m', 'by the job'], { cwd })
  const pushed = await service.git.run(['-c', bearing(token), 'push', '-q', 'origin', 'main'], { cwd })
  expect(pushed.exitCode).not.toBe(0)
  expect(pushed.stderr).toContain('403')
  for (const { path } of [repo, open]) {
    expect((await client.post(`${path}/issues`, { title: 'one' })).status).toBe(403)
    expect((await client.patch(path, { description: 'other' })).status).toBe(403)
    expect((await client.delete(path)).status).toBe(403)
    expect((await client.post(`${path}/forks`, {})).status).toBe(403)
  }
  const { body } = await owner.client.get(`${repo.path}/commits`)
  expect(JSON.stringify(body)).not.toContain('by the job')
})

test('nothing of an account, of the site or of the settings opens', async () => {
  const { repo, client } = await startJob('write-all')
  const paths = ['/user', '/user/repos', '/user/keys', '/notifications', '/admin/users', `/users/${owner.name}`]
  const settings = ['hooks', 'keys', 'actions/secrets', 'actions/runners'].map((of) => `${repo.path}/${of}`)
  for (const path of [...paths, ...settings]) expect([path, await statusOf(client, path)]).toEqual([path, 403])
  expect((await client.post('/user/repos', { name: 'mine' })).status).toBe(403)
  expect((await client.get('/version', { sudo: owner.name })).status).toBe(403)
  expect((await service.client({ basic: `gitea-actions:` }).get('/user')).status).toBe(401)
})

test('in Basic it stands beside any name, or alone, and acts as the job whatever the name', async () => {
  const { repo, token } = await startJob()
  const hidden = await service.createRepository(service.admin, INSIDE)
  const by = (basic: string, path = repo.path) => statusOf(service.client({ basic }), path)
  for (const name of ['x-access-token', 'gitea-actions', 'oauth2', owner.name, service.admin.name, 'nobody', ''])
    expect([name, await by(`${name}:${token}`), await by(`${name}:${token}`, hidden.path)]).toEqual([name, 200, 404])
  expect(await by(`${service.admin.name}:${token}`, '/user')).toBe(403)
  expect([await by(`${token}:`), await by(`${token}:x-oauth-basic`)]).toEqual([200, 200])
  for (const wrong of [token.slice(4), `${token}0`, token.toUpperCase(), sha256Hex(token)]) {
    expect(await statusOf(service.client({ token: wrong }), repo.path)).toBe(401)
    expect(await by(`x-access-token:${wrong}`)).toBe(401)
  }
})

test('the real git clones by an address with the name of who started the run', async () => {
  const { repo, token } = await startJob()
  const address = new URL(repo.cloneUrl)
  address.username = owner.name
  address.password = token
  expect(await service.git.run(['clone', '-q', address.href, crypto.randomUUID()])).toMatchObject({ exitCode: 0 })
})

test('after its end it is refused, and is no wrong password of the name beside it', async () => {
  const { repo, runner, task, token } = await startJob()
  await runner.end(task)
  for (let attempt = 0; attempt < 30; attempt++)
    expect(await statusOf(service.client({ basic: `${owner.name}:${token}` }), repo.path)).toBe(401)
  expect(await statusOf(service.client({ basic: `${owner.name}:${owner.password}` }), repo.path)).toBe(200)
})

test('what Git LFS is signed for a job ends with its task', async () => {
  const { repo, runner, task, token } = await startJob()
  const content = 'large'
  const objects = [{ oid: sha256Hex(content), size: content.length }]
  const batch = async (operation: string, credential: string) => {
    const answer = await fetch(`${repo.cloneUrl}/info/lfs/objects/batch`, {
      method: 'POST',
      headers: {
        ...{ accept: 'application/vnd.git-lfs+json', 'content-type': 'application/vnd.git-lfs+json' },
        authorization: `Basic ${btoa(credential)}`,
      },
      body: JSON.stringify({ operation, transfers: ['basic'], objects }),
    })
    return { status: answer.status, body: await answer.json() }
  }
  const sent = (await batch('upload', `${owner.name}:${owner.token}`)).body.objects[0].actions.upload
  expect((await fetch(sent.href, { method: 'PUT', headers: sent.header, body: content })).status).toBe(200)
  expect((await batch('upload', `x-access-token:${token}`)).status).toBe(403)
  const { href, header } = (await batch('download', `x-access-token:${token}`)).body.objects[0].actions.download
  const read = () => fetch(href, { headers: header })
  expect(await (await read()).text()).toBe(content)
  await runner.end(task)
  expect((await read()).status).toBe(401)
})
