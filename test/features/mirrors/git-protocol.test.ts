import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startTestService, type TestService, type TestUser } from '../../harness/service.ts'
import { until } from '../../harness/until.ts'
import { type GitDaemon, startGitDaemon } from './git-daemon.ts'
import { type OtherServer, startOtherServer } from './other-server.ts'

let service: TestService
let other: OtherServer
let daemon: GitDaemon
let alice: TestUser
beforeAll(async () => {
  service = await startTestService({
    settings: { MIGRATIONS_ALLOWED_HOSTS: 'loopback', MIGRATIONS_GIT_PROTOCOL: 'true' },
  })
  other = await startOtherServer(service.folder)
  daemon = await startGitDaemon(other.git.folder)
  alice = await service.createUser('alice')
  await other.create('plain')
})
afterAll(async () => {
  await daemon.stop()
  await other.stop()
  await service.stop()
})

const address = (host = '127.0.0.1') => `git://${host}:${daemon.port}/plain.git`
const migrate = (name: string, option: object = {}) =>
  alice.client.post('/repos/migrate', { clone_addr: address(), repo_name: name, ...option })
const shaOf = async (name: string) => (await alice.client.get(`/repos/alice/${name}/branches/main`)).string('commit.id')

test('a repository is copied from git://, and a mirror follows it', async () => {
  const made = await migrate('copy')
  expect([made.status, made.string('original_url')]).toEqual([201, address()])
  expect((await migrate('mirror', { mirror: true })).status).toBe(201)
  await service.drain()
  expect(await shaOf('copy')).toBe(await other.inside('plain', 'rev-parse', 'main'))
  const sha = await other.commit('plain', 'main')
  expect((await alice.client.post('/repos/alice/mirror/mirror-sync')).status).toBe(200)
  await service.drain()
  expect(await shaOf('mirror')).toBe(sha)
})

test('git connects to the judged address, and tells the server the name', async () => {
  const url = address('no-such-name.invalid')
  expect(await service.context.git.listRemote({ url, addresses: ['127.0.0.1'] })).toMatchObject({ head: 'main' })
  const told = () => daemon.log.some((line) => line.includes(`"host": no-such-name.invalid:${daemon.port}`))
  await until(told, 'the name is logged')
})

test.each([
  ['a private address', { clone_addr: 'git://10.0.0.1/x.git' }],
  ['the address of the cloud in another spelling', { clone_addr: 'git://0xa9.254.169.254/x.git' }],
  ['an option as a host', { clone_addr: 'git://-x/x.git' }],
  ['a user in the address', { clone_addr: 'git://me:secret@127.0.0.1/x.git' }],
  ['a line break in the path', { clone_addr: 'git://127.0.0.1/x%0ahost=y' }],
  ['credentials', { auth_token: 'secret' }],
  ['issues', { service: 'gitea', issues: true }],
])('%s: refused, and nothing is made', async (_, option) => {
  const count = async () => (await service.context.sql`select count(*) from repositories`)[0]?.count
  const before = await count()
  expect([(await migrate('refused', option)).status, await count()]).toEqual([422, before])
})

test('nothing is pushed to git://, and without the setting nothing comes from there', async () => {
  const pushed = await alice.client.post('/repos/alice/copy/push_mirrors', {
    remote_address: address(),
    interval: '8h',
  })
  expect(pushed.status).toBe(400)
  const strict = await startTestService({ settings: { MIGRATIONS_ALLOWED_HOSTS: 'loopback' } })
  try {
    const user = await strict.createUser()
    const refused = await user.client.post('/repos/migrate', { clone_addr: address(), repo_name: 'x' })
    expect(refused.status).toBe(422)
    const unwanted = address().replace('plain', 'unwanted')
    // As if the setting had been another one.
    const { id, path } = await strict.createRepository(user)
    await strict.context.sql`insert into pull_mirrors (repository_id, url) values (${id}, ${unwanted})`
    expect((await user.client.post(`${path}/mirror-sync`)).status).toBe(200)
    await strict.drain()
    expect((await user.client.get(`${path}/mirror`)).string('last_error')).toContain('MIGRATIONS_GIT_PROTOCOL')
    expect(daemon.log.filter((line) => line.includes('unwanted'))).toEqual([])
  } finally {
    await strict.stop()
  }
})
