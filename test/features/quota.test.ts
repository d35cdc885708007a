import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'
import { addKey, makeKey } from '../harness/ssh.ts'
import { commit, hostRepository, workTree } from './transport/hosted.ts'

const MOST = 2

let service: TestService
let owner: TestUser
let repo: TestRepository
beforeAll(async () => {
  service = await startTestService({ settings: { MAX_OWNED: String(MOST), MAX_REFS: '3' } })
  owner = await service.createUser()
  repo = await service.createRepository(owner, { auto_init: true })
  await owner.client.post('/orgs', { username: 'roomy' })
})
afterAll(() => service.stop())

const hook = { type: 'gitea', config: { url: 'https://example.com', content_type: 'json' } }

test.each([
  ['labels', () => `${repo.path}/labels`, (name: string) => ({ name, color: '#00aaff' })],
  ['milestones', () => `${repo.path}/milestones`, (title: string) => ({ title })],
  ['hooks', () => `${repo.path}/hooks`, () => hook],
  ['hooks', () => '/user/hooks', () => hook],
  ['hooks', () => '/orgs/roomy/hooks', () => hook],
  ['labels', () => '/orgs/roomy/labels', (name: string) => ({ name, color: '#00aaff' })],
])('there are so many %s and no more, and removing one makes room', async (items, path, option) => {
  const made = []
  for (let number = 1; number <= MOST; number += 1) made.push(await owner.client.post(path(), option(`of ${number}`)))
  expect(made.map(({ status }) => status)).toEqual(made.map(() => 201))
  const refused = await owner.client.post(path(), option('one more'))
  expect(refused.status).toBe(422)
  expect(refused.body).toMatchObject({ message: `at most ${MOST} ${items} (MAX_OWNED)` })
  expect((await owner.client.get(path())).headers.get('x-total-count') ?? String(MOST)).toBe(String(MOST))
  expect((await owner.client.delete(`${path()}/${made[0]?.number('id')}`)).status).toBe(204)
  expect((await owner.client.post(path(), option('one more'))).status).toBe(201)
})

test('teams: the owners count as one', async () => {
  const rights = { units_map: { 'repo.code': 'read' } }
  expect((await owner.client.post('/orgs/roomy/teams', { name: 'a', ...rights })).status).toBe(201)
  expect((await owner.client.post('/orgs/roomy/teams', { name: 'b', ...rights })).status).toBe(422)
})

test('organizations: of one person, but not of an administrator', async () => {
  expect((await owner.client.post('/orgs', { username: 'second' })).status).toBe(201)
  const refused = await owner.client.post('/orgs', { username: 'third' })
  expect([refused.status, (await service.anonymous.get('/orgs/third')).status]).toEqual([422, 404])
  for (const username of ['fourth', 'fifth', 'sixth'])
    expect((await service.admin.client.post('/orgs', { username })).status).toBe(201)
})

test('tokens, keys and blocks', async () => {
  const person = await service.createUser()
  const withPassword = service.client({ basic: `${person.name}:${person.password}` })
  const token = (name: string) => withPassword.post(`/users/${person.name}/tokens`, { name, scopes: ['read:user'] })
  // The harness made the first.
  expect([(await token('b')).status, (await token('c')).status]).toEqual([201, 422])
  await addKey(person, makeKey(service))
  await addKey(person, makeKey(service))
  const key = { title: 'third', key: makeKey(service).line }
  const refused = await person.client.post('/user/keys', key)
  expect(refused.body).toMatchObject({ message: `at most ${MOST} keys (MAX_OWNED)` })
  const others = [await service.createUser(), await service.createUser(), await service.createUser()]
  const blocks = []
  for (const other of others) blocks.push((await person.client.put(`/user/blocks/${other.name}`)).status)
  expect(blocks).toEqual([204, 204, 422])
  // Blocking the same one again is no more.
  expect((await person.client.put(`/user/blocks/${others[0]?.name}`)).status).toBe(204)
})

test('requests at the same instant make no more than one after the other', async () => {
  const person = await service.createUser()
  const own = await service.createRepository(person)
  const org = 'hasty'
  expect((await person.client.post('/orgs', { username: org })).status).toBe(201)
  const others = await Promise.all(Array.from({ length: 6 }, () => service.createUser()))
  const withPassword = service.client({ basic: `${person.name}:${person.password}` })
  const color = '#00aaff'
  const units = { units_map: { 'repo.code': 'read' } }
  const application = (name: string) => ({ name, redirect_uris: ['https://example.com/'] })
  const makers: Record<string, (index: number) => Promise<{ status: number }>> = {
    labels: (index) => person.client.post(`${own.path}/labels`, { name: `l${index}`, color }),
    milestones: (index) => person.client.post(`${own.path}/milestones`, { title: `m${index}` }),
    hooks: () => person.client.post(`${own.path}/hooks`, hook),
    teams: (index) => person.client.post(`/orgs/${org}/teams`, { name: `t${index}`, ...units }),
    users: (index) => person.client.post('/orgs', { username: `hasty${index}` }),
    oauth_applications: (index) => withPassword.post('/user/applications/oauth2', application(`a${index}`)),
    access_tokens: (index) =>
      withPassword.post(`/users/${person.name}/tokens`, { name: `k${index}`, scopes: ['read:user'] }),
    public_keys: (index) => person.client.post('/user/keys', { title: `k${index}`, key: makeKey(service).line }),
    collaborations: (index) => person.client.put(`${own.path}/collaborators/${others[index]?.name}`, {}),
    blocks: (index) => person.client.put(`/user/blocks/${others[index]?.name}`),
  }
  const before = await countAll()
  for (const [table, make] of Object.entries(makers)) {
    const statuses = await Promise.all(others.map((_, index) => make(index).then(({ status }) => status)))
    const made = statuses.filter((status) => status < 300).length
    // The first token is the harness's, the first team the owners', and the first organization is there.
    const room = ['teams', 'access_tokens', 'users'].includes(table) ? 1 : MOST
    expect([table, made]).toEqual([table, room])
    expect(statuses.filter((status) => status === 422)).toHaveLength(6 - room)
    expect([table, (await countAll())[table]]).toEqual([table, (before[table] ?? 0) + room])
  }

  async function countAll(): Promise<Record<string, number>> {
    const counts = Object.keys(makers).map(async (table) => {
      const [row] = await service.context.sql<
        { n: number }[]
      >`select count(*)::int as n from ${service.context.sql(table)}`
      return [table, row?.n ?? 0] as const
    })
    return Object.fromEntries(await Promise.all(counts))
  }
})

test('branches and tags, by a push, by the API and by a change of a file', async () => {
  const hosted = await hostRepository(service, owner)
  const cwd = await workTree(service.git)
  await commit(service.git, cwd, { 'a.txt': 'a' })
  await service.git(['push', '-q', hosted.as(owner), 'main', 'main:refs/heads/x', 'main:refs/tags/v1'], { cwd })
  const push = service.git(['push', '-q', hosted.as(owner), 'main:refs/heads/y'], { cwd })
  await expect(push).rejects.toThrow('a repository may have 3 branches and tags at most (MAX_REFS)')
  const path = `/repos/${owner.name}/${hosted.name}`
  const branch = { new_branch_name: 'z', old_branch_name: 'main' }
  expect((await owner.client.post(`${path}/branches`, branch)).status).toBe(422)
  const file = { content: '', message: 'm', new_branch: 'z' }
  expect((await owner.client.post(`${path}/contents/b.txt`, file)).status).toBe(422)
  await commit(service.git, cwd, { 'b.txt': 'b' })
  await service.git(['push', '-q', hosted.as(owner), 'main', ':refs/tags/v1'], { cwd })
  expect((await owner.client.post(`${path}/branches`, branch)).status).toBe(201)
})

test('branches and tags that are made at the same instant are no more either', async () => {
  const hosted = await hostRepository(service, owner)
  const cwd = await workTree(service.git)
  await service.git(['push', '-q', hosted.as(owner), 'main'], { cwd })
  const path = `/repos/${owner.name}/${hosted.name}`
  const isMade = async (sent: Promise<{ status: number }>) => {
    const { status } = await sent
    expect([201, 422]).toContain(status)
    return status === 201
  }
  const isPushed = async (name: string) => {
    const { exitCode, stderr } = await service.git.run(['push', hosted.as(owner), `main:refs/heads/${name}`], { cwd })
    if (exitCode !== 0) expect(stderr).toContain('MAX_REFS')
    return exitCode === 0
  }
  const made = await Promise.all(
    Array.from({ length: 5 }, (_, index) => [
      isMade(owner.client.post(`${path}/branches`, { new_branch_name: `branch-${index}` })),
      isMade(owner.client.post(`${path}/tags`, { tag_name: `tag-${index}` })),
      isMade(owner.client.post(`${path}/contents/${index}`, { content: '', new_branch: `file-${index}` })),
      isPushed(`pushed-${index}`),
    ]).flat(),
  )
  expect(made.filter(Boolean)).toHaveLength(2)
  expect(await hosted.diskLines()).toHaveLength(3)
  // What was refused holds no place.
  const other = (await hosted.diskLines()).map((line) => line.split(' ')[1]).find((name) => name !== 'main')
  await service.git(['push', '-q', hosted.as(owner), `:${other}`], { cwd })
  expect(await isPushed('again')).toBe(true)
})
