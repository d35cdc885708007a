import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { startTestService, type TestService, type TestUser } from '../../harness/service.ts'
import { type OtherServer, startOtherServer } from './other-server.ts'

let service: TestService
let other: OtherServer
let alice: TestUser
let bob: TestUser
beforeAll(async () => {
  service = await startTestService({ settings: { MIGRATIONS_ALLOWED_HOSTS: 'loopback,external' } })
  other = await startOtherServer(service.folder)
  alice = await service.createUser('alice')
  bob = await service.createUser('bob')
  await other.create('plain')
  await other.inside('plain', 'tag', '-am', 'one', 'v1', 'main')
  await other.commit('plain', 'trunk')
  await other.inside('plain', 'symbolic-ref', 'HEAD', 'refs/heads/trunk')
})
afterEach(() => {
  other.answer = undefined
  other.credentials = undefined
  other.seen.length = 0
})
afterAll(async () => {
  await other.stop()
  await service.stop()
})

const migrate = (name: string, option: object = {}) =>
  alice.client.post('/repos/migrate', { clone_addr: other.url('plain'), repo_name: name, ...option })
const refsOf = (url: string) => service.git(['ls-remote', url])
const copyUrl = (name: string) => `http://alice:${alice.token}@${new URL(service.url).host}/alice/${name}.git`
const stateOf = async (name: string) => (await alice.client.get(`/repos/alice/${name}/mirror`)).body
/** Of every process, as anybody on the machine may read them. */
const commandLines = () =>
  Promise.all(
    readdirSync('/proc').map((name) =>
      Bun.file(`/proc/${name}/cmdline`)
        .text()
        .catch(() => ''),
    ),
  )
const isSound = async (id: number) => (await service.context.git.fsck(id, { isFull: true })).isSound

test('a repository is copied once: branches, tags, HEAD, and no word of it afterwards', async () => {
  const made = await migrate('copy', { description: 'a copy', private: true })
  expect([made.status, made.body]).toMatchObject([
    201,
    { full_name: 'alice/copy', empty: true, mirror: false, private: true, description: 'a copy', mirror_interval: '' },
  ])
  expect(made.string('original_url')).toBe(other.url('plain'))
  expect(await stateOf('copy')).toMatchObject({ status: 'waiting', mirror: false, last_error: '' })
  await service.drain()
  expect(await refsOf(copyUrl('copy'))).toBe(await refsOf(other.url('plain')))
  const shown = await alice.client.get('/repos/alice/copy')
  expect(shown.body).toMatchObject({ empty: false, default_branch: 'trunk', branch_count: 2, mirror: false })
  expect((await alice.client.get('/repos/alice/copy/tags')).body).toMatchObject([{ name: 'v1' }])
  expect((await alice.client.get('/repos/alice/copy/mirror')).status).toBe(404)
  expect((await alice.client.post('/repos/alice/copy/mirror-sync')).status).toBe(400)
  const id = made.number('id')
  expect(await isSound(id)).toBe(true)
  expect(await service.context.git.listRefs(id, { prefix: 'refs/hidden/' })).toEqual([])
})

test('nobody is said to have pushed what a copy begins with', async () => {
  const made = await migrate('quiet')
  await service.drain()
  const events = await service.context.sql`select kind from events where repository_id = ${made.number('id')}`
  const kinds = ['repository.created', 'repository.default_branch_changed', 'repository.migrated']
  expect(events.map(({ kind }) => kind)).toEqual(kinds)
})

test('who asks for it gets it for an organization, and an administrator for anybody', async () => {
  await alice.client.post('/orgs', { username: 'club' })
  const own = await migrate('own', { repo_owner: 'club' })
  expect([own.status, own.string('full_name')]).toEqual([201, 'club/own'])
  const id = (await alice.client.get('/orgs/club')).number('id')
  expect((await migrate('by-id', { uid: id })).string('full_name')).toBe('club/by-id')
  const option = { clone_addr: other.url('plain'), repo_name: 'x', repo_owner: 'club' }
  expect((await bob.client.post('/repos/migrate', option)).status).toBe(403)
  expect((await bob.client.post('/repos/migrate', { ...option, repo_owner: 'alice' })).status).toBe(403)
  const byAdmin = await service.admin.client.post('/repos/migrate', { ...option, repo_owner: 'alice' })
  expect([byAdmin.status, byAdmin.string('full_name')]).toEqual([201, 'alice/x'])
})

test.each([
  ['no credentials', undefined, {}, 401],
  ['a name that is taken', 'alice', { repo_name: 'copy' }, 409],
  ['an owner that is not there', 'alice', { repo_owner: 'nobody' }, 422],
  ['an owner by an unknown id', 'alice', { uid: 999_999 }, 422],
  ['a file', 'alice', { clone_addr: 'file:///etc' }, 422],
  ['a path', 'alice', { clone_addr: '/etc' }, 422],
  ['a program', 'alice', { clone_addr: 'ext::sh -c true' }, 422],
  ['a helper in an address', 'alice', { clone_addr: 'http::http://127.0.0.1/x' }, 422],
  ['ssh', 'alice', { clone_addr: 'ssh://git@example.org/x.git' }, 422],
  ['an option as a host', 'alice', { clone_addr: 'http://-x.example.org/x.git' }, 422],
  ['a query', 'alice', { clone_addr: 'http://93.184.216.34/x.git?a=b' }, 422],
  ['a private address', 'alice', { clone_addr: 'http://10.0.0.1/x.git' }, 422],
  ['an address in another spelling', 'alice', { clone_addr: 'http://0xa.1/x.git' }, 422],
  ['the address of the cloud', 'alice', { clone_addr: 'http://169.254.169.254/x.git' }, 422],
  ['the address inside IPv6', 'alice', { clone_addr: 'http://[::ffff:a00:1]/x.git' }, 422],
  ['no address', 'alice', { clone_addr: '' }, 422],
  ['a name that cannot be', 'alice', { repo_name: 'a b' }, 422],
  ['a short interval', 'alice', { mirror: true, mirror_interval: '1m' }, 422],
  ['a word as interval', 'alice', { mirror: true, mirror_interval: 'often' }, 422],
  ['issues', 'alice', { issues: true }, 422],
  ['a wiki', 'alice', { wiki: true }, 422],
  ['large files', 'alice', { lfs: true }, 422],
  ['a line break in the password', 'alice', { auth_username: 'a', auth_password: 'b\nquit=1' }, 422],
] as const)('%s is refused, and nothing is made', async (_, who, option, status) => {
  const client = who ? alice.client : service.anonymous
  const count = async () => (await service.context.sql`select count(*) from repositories`)[0]?.count
  const before = await count()
  const refused = await client.post('/repos/migrate', { clone_addr: other.url('plain'), repo_name: 'new', ...option })
  expect([refused.status, await count()]).toEqual([status, before])
})

test('this very service is no other server', async () => {
  const refused = await migrate('self', { clone_addr: `${service.url}/alice/copy.git` })
  expect([refused.status, refused.string('message')]).toEqual([422, 'You can not import from disallowed hosts.'])
})

test('credentials go to the server alone, and are kept no longer than they are needed', async () => {
  other.credentials = 'some one:p@ss\\word'
  const made = await migrate('secret', { auth_username: 'some one', auth_password: 'p@ss\\word' })
  const [waiting] = await service.context
    .sql`select url, credentials from pull_mirrors where repository_id = ${made.number('id')}`
  expect(waiting?.url).toBe(other.url('plain'))
  expect(Buffer.from(waiting?.credentials).includes('word')).toBe(false)
  expect(made.text).not.toContain('word')
  const commands: string[] = []
  other.answer = async () => {
    commands.push(...(await commandLines()))
    return undefined
  }
  await service.drain()
  other.answer = undefined
  expect(commands.filter((line) => line.includes('remote-http')).length).toBeGreaterThan(0)
  expect(commands.filter((line) => line.includes('p@ss'))).toEqual([])
  expect((await alice.client.get('/repos/alice/secret')).body).toMatchObject({ empty: false })
  expect(await service.context.sql`select 1 from pull_mirrors where repository_id = ${made.number('id')}`).toHaveLength(
    0,
  )
  const inAddress = new URL(other.url('plain'))
  inAddress.username = 'some one'
  inAddress.password = 'p@ss\\word'
  const again = await migrate('secret-too', { clone_addr: inAddress.href.replace('%5C', '%5c') })
  expect(again.string('original_url')).toBe(other.url('plain'))
  await service.drain()
  expect((await alice.client.get('/repos/alice/secret-too')).body).toMatchObject({ empty: false })
})

test('a server that is down is tried again, and shows why', async () => {
  other.answer = () => new Response('no', { status: 503 })
  await migrate('later')
  await service.drain()
  expect(await stateOf('later')).toMatchObject({ status: 'failed', failures: 1 })
  expect((await alice.client.get('/repos/alice/later')).body).toMatchObject({ empty: true })
  other.answer = undefined
  expect((await alice.client.post('/repos/alice/later/mirror-sync')).status).toBe(200)
  await service.drain()
  expect((await alice.client.get('/repos/alice/later')).body).toMatchObject({ empty: false })
})

test('one that never comes is given up, and can be removed', async () => {
  other.answer = () => new Response('no', { status: 404 })
  const id = (await migrate('never')).number('id')
  for (let tries = 0; tries < 8; tries++) {
    await alice.client.post('/repos/alice/never/mirror-sync')
    await service.drain()
  }
  expect(await stateOf('never')).toMatchObject({
    status: 'failed',
    next_attempt: null,
    last_error: expect.stringContaining('the other server knows no such repository'),
  })
  expect((await alice.client.delete('/repos/alice/never')).status).toBe(204)
  await service.drain()
  expect(await service.context.sql`select 1 from pull_mirrors where repository_id = ${id}`).toHaveLength(0)
})

test('what somebody pushed before the copy came stays theirs', async () => {
  const made = await migrate('early')
  const body = { content: btoa('mine'), message: 'mine' }
  expect((await alice.client.post('/repos/alice/early/contents/mine.txt', body)).status).toBe(201)
  await service.drain()
  const branches = await alice.client.get('/repos/alice/early/branches')
  expect(branches.text).toContain('trunk')
  expect((await alice.client.get('/repos/alice/early/contents/mine.txt?ref=main')).status).toBe(200)
  expect(await isSound(made.number('id'))).toBe(true)
})

test('a copy and a mirror have the object format of the other repository', async () => {
  await other.create('wide', { objectFormat: 'sha256' })
  for (const mirror of [false, true]) {
    const name = `wide-${mirror}`
    const made = await migrate(name, { clone_addr: other.url('wide'), mirror })
    expect(made.body).toMatchObject({ object_format_name: 'sha256' })
    await service.drain()
    expect(await refsOf(copyUrl(name))).toBe(await refsOf(other.url('wide')))
    expect(await isSound(made.number('id'))).toBe(true)
  }
})

test('where the other server could not be asked for its object format, a wrong one is told of', async () => {
  other.answer = () => new Response('no', { status: 503 })
  await migrate('narrow', { clone_addr: other.url('wide') })
  other.answer = undefined
  await service.drain()
  expect(JSON.stringify(await stateOf('narrow'))).toContain('another object format')
})
