import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'

let service: TestService
let alice: TestUser
let bob: TestUser
let source: TestRepository
beforeAll(async () => {
  service = await startTestService()
  alice = await service.createUser('alice')
  bob = await service.createUser('bob')
  source = await service.createRepository(alice, { name: 'source', license: 'MIT' })
})
afterAll(() => service.stop())

const commitFile = (of: TestRepository, name: string, branch?: string) =>
  alice.client.post(`${of.path}/contents/${name}`, { content: btoa(name), branch: 'main', new_branch: branch })

test('a fork has the branches of its source and can be cloned', async () => {
  await commitFile(source, 'topic.txt', 'topic')
  const made = await bob.client.post(`${source.path}/forks`, {})
  expect(made.status).toBe(202)
  expect(made.body).toMatchObject({
    full_name: 'bob/source',
    fork: true,
    private: false,
    empty: false,
    branch_count: 2,
    parent: { full_name: 'alice/source', forks_count: 1 },
  })
  const branches = await bob.client.get('/repos/bob/source/branches')
  const sources = await alice.client.get(`${source.path}/branches`)
  const tips = (answer: { body: unknown }) =>
    Array.isArray(answer.body) ? answer.body.map(({ name, commit }) => `${name} ${commit.id}`).sort() : []
  expect(tips(branches)).toEqual(tips(sources))
  const url = new URL('/bob/source.git', service.url)
  expect(await service.git(['ls-remote', url.href, 'refs/heads/topic'])).toContain('refs/heads/topic')
  const listed = await service.anonymous.get(`${source.path}/forks`)
  expect(listed.body).toMatchObject([{ full_name: 'bob/source' }])
  expect(listed.headers.get('x-total-count')).toBe('1')
})

test('a second fork and a taken name are refused; a fork of your own needs another name', async () => {
  expect((await bob.client.post(`${source.path}/forks`, { name: 'again' })).status).toBe(409)
  const carol = await service.createUser('carol')
  await carol.client.post('/user/repos', { name: 'source' })
  expect((await carol.client.post(`${source.path}/forks`, {})).status).toBe(409)
  expect((await carol.client.post(`${source.path}/forks`, { name: 'mine' })).string('full_name')).toBe('carol/mine')
  expect((await alice.client.post(`${source.path}/forks`, {})).status).toBe(409)
  const own = await alice.client.post(`${source.path}/forks`, { name: 'mine' })
  expect([own.status, own.body]).toMatchObject([
    202,
    { full_name: 'alice/mine', parent: { full_name: 'alice/source' } },
  ])
  expect((await alice.client.post(`${source.path}/forks`, { name: 'mine-again' })).status).toBe(409)
  expect((await carol.client.post(`${source.path}/forks`, { name: '..' })).status).toBe(422)
})

test('a fork begins with code and pull requests, and who made it watches it', async () => {
  const made = await (await service.createUser()).client.post(`${source.path}/forks`, {})
  const off = { has_issues: false, has_wiki: false, has_projects: false, has_releases: false, has_packages: false }
  expect(made.body).toMatchObject({ has_code: true, has_pull_requests: true, ...off, has_actions: false })
  expect(made.number('watchers_count')).toBe(1)
})

test('a fork for an organization needs the right to make repositories there', async () => {
  await alice.client.post('/orgs', { username: 'friends' })
  const wanted = { organization: 'friends' }
  expect((await bob.client.post(`${source.path}/forks`, wanted)).status).toBe(403)
  const made = await alice.client.post(`${source.path}/forks`, wanted)
  expect([made.status, made.string('full_name')]).toEqual([202, 'friends/source'])
  for (const organization of ['nobody', '', 'bob'])
    expect((await bob.client.post(`${source.path}/forks`, { organization })).status).toBe(404)
})

test('what is private stays private, and unknown to strangers', async () => {
  const hidden = await service.createRepository(alice, { private: true })
  expect((await bob.client.post(`${hidden.path}/forks`, {})).status).toBe(404)
  expect((await service.anonymous.post(`${hidden.path}/forks`, {})).status).toBe(401)
  await alice.client.post('/orgs', { username: 'secrets' })
  const made = await alice.client.post(`${hidden.path}/forks`, { organization: 'secrets' })
  expect(made.body).toMatchObject({ private: true })
  expect((await bob.client.get(`/repos/secrets/${hidden.name}`)).status).toBe(404)
})

test('forks follow into privacy, and do not leave it while their source is private', async () => {
  const open = await service.createRepository(alice)
  await bob.client.post(`${open.path}/forks`, {})
  const fork = `/repos/bob/${open.name}`
  const carol = await service.createUser()
  await carol.client.post(`${fork}/forks`, {})
  expect((await alice.client.patch(open.path, { private: true })).status).toBe(200)
  for (const hidden of [open.path, fork, `/repos/${carol.name}/${open.name}`])
    expect([hidden, (await service.anonymous.get(hidden)).status]).toEqual([hidden, 404])
  const tried = await bob.client.patch(fork, { private: false })
  expect([tried.status, tried.body]).toMatchObject([200, { private: true }])
  await alice.client.patch(open.path, { private: false })
  expect((await bob.client.get(fork)).body).toMatchObject({ private: true })
  expect((await bob.client.patch(fork, { private: false })).body).toMatchObject({ private: false })
})

test('a fork that is made while its source becomes private is private', async () => {
  const open = await service.createRepository(alice)
  const people = await Promise.all(Array.from({ length: 4 }, () => service.createUser()))
  await Promise.all([
    ...people.map(({ client }) => client.post(`${open.path}/forks`, {})),
    alice.client.patch(open.path, { private: true }),
  ])
  for (const { name } of people) expect((await service.anonymous.get(`/repos/${name}/${open.name}`)).status).toBe(404)
})

test('a fork holds only what can be reached from its refs', async () => {
  const cleaned = await service.createRepository(alice)
  const leak = await commitFile(cleaned, 'secret.txt', 'leak')
  const secret = leak.string('commit.sha')
  expect((await alice.client.delete(`${cleaned.path}/branches/leak`)).status).toBe(204)
  expect((await bob.client.post(`${cleaned.path}/forks`, {})).status).toBe(202)
  expect((await bob.client.get(`/repos/bob/${cleaned.name}/git/commits/${secret}`)).status).toBe(404)
})

test('the fork outlives its source', async () => {
  const dying = await service.createRepository(alice)
  await bob.client.post(`${dying.path}/forks`, {})
  expect((await alice.client.delete(dying.path)).status).toBe(204)
  await service.drain()
  const left = await bob.client.get(`/repos/bob/${dying.name}`)
  expect(left.body).toMatchObject({ fork: false })
  expect(await service.git(['ls-remote', new URL(`/bob/${dying.name}.git`, service.url).href])).toContain('main')
})
