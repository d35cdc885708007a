import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { runCronTaskNow } from '../../../src/jobs/cron-tasks.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../../harness/service.ts'
import { type OtherServer, startOtherServer } from './other-server.ts'

let service: TestService
let other: OtherServer
let alice: TestUser
let bob: TestUser
let counter = 0
beforeAll(async () => {
  service = await startTestService({ settings: { MIGRATIONS_ALLOWED_HOSTS: 'loopback,external' } })
  other = await startOtherServer(service.folder)
  alice = await service.createUser('alice')
  bob = await service.createUser('bob')
})
afterEach(() => {
  other.answer = undefined
  other.credentials = undefined
})
afterAll(async () => {
  await other.stop()
  await service.stop()
})

interface Pair {
  source: TestRepository
  /** Of the repository on the other server. */
  target: string
  mirror: string
}

/** A repository here, one there, and a push mirror between them. */
async function pair(option: object = {}): Promise<Pair> {
  counter += 1
  const target = `target${counter}`
  await other.create(target)
  const source = await service.createRepository(alice)
  const made = await alice.client.post(`${source.path}/push_mirrors`, {
    remote_address: other.url(target),
    interval: '8h',
    ...option,
  })
  expect(made.status).toBe(200)
  return { source, target, mirror: made.string('remote_name') }
}

async function sync({ source }: Pair): Promise<void> {
  expect((await alice.client.post(`${source.path}/push_mirrors-sync`)).status).toBe(200)
  await service.drain()
}

const stateOf = ({ source, mirror }: Pair) => alice.client.get(`${source.path}/push_mirrors/${mirror}`)
const sameRefs = async ({ source, target }: Pair) =>
  expect(await other.git(['ls-remote', other.url(target)])).toBe(await service.git(['ls-remote', source.cloneUrl]))
const commit = (source: TestRepository, name: string, branch?: string) =>
  alice.client.post(`${source.path}/contents/${name}`, { content: btoa(name), branch: 'main', new_branch: branch })

test('the other server becomes what the repository is: forced, and pruned', async () => {
  const made = await pair()
  await other.inside(made.target, 'branch', 'left-over', 'main')
  await commit(made.source, 'a.txt', 'topic')
  await alice.client.post(`${made.source.path}/tags`, { tag_name: 'v1', message: 'one' })
  await sync(made)
  await sameRefs(made)
  const state = await stateOf(made)
  expect(state.body).toMatchObject({ last_error: '', interval: '8h0m0s', sync_on_commit: false })
  expect(Date.parse(state.string('last_update'))).toBeGreaterThan(0)
  expect(await other.inside(made.target, 'fsck', '--full')).not.toContain('error')
})

test('each push is followed where that is wanted, and nowhere else', async () => {
  const follows = await pair({ sync_on_commit: true, interval: '0' })
  const waits = await pair()
  await sync(follows)
  await sync(waits)
  for (const { source } of [follows, waits]) await commit(source, 'new.txt')
  await alice.client.post(`${follows.source.path}/branches`, { new_branch_name: 'gone' })
  await service.drain()
  await sameRefs(follows)
  expect((await alice.client.delete(`${follows.source.path}/branches/gone`)).status).toBe(204)
  await service.drain()
  await sameRefs(follows)
  expect(await other.git(['ls-remote', other.url(waits.target)])).not.toBe(
    await service.git(['ls-remote', waits.source.cloneUrl]),
  )
})

test('it goes by the clock, and not where the interval is 0', async () => {
  const made = await pair({ interval: '1h' })
  const never = await pair({ interval: '0' })
  const tick = async () => {
    await service.context.sql`update push_mirrors set next_at = next_at - interval '61 minutes'`
    await runCronTaskNow(service.context, 'update_mirrors')
    await service.drain()
  }
  await tick()
  await sameRefs(made)
  expect((await stateOf(never)).string('last_update')).toBe('1970-01-01T00:00:00Z')
})

test('credentials are never shown again, and sent to the server alone', async () => {
  other.credentials = 'me:s3cret'
  counter += 1
  other.credentials = undefined
  const given = await pair({ remote_username: 'me', remote_password: 's3cret' })
  other.credentials = 'me:s3cret'
  await sync(given)
  const state = await stateOf(given)
  expect(state.body).toMatchObject({ last_error: '' })
  other.credentials = 'me:another'
  await commit(given.source, 'later.txt')
  other.answer = (request) =>
    request.headers.has('authorization')
      ? new Response('me with s3cret may not', { status: 403, headers: { 'content-type': 'text/plain' } })
      : undefined
  await sync(given)
  const failed = await stateOf(given)
  expect(failed.string('last_error')).toContain('*** with *** may not')
  for (const answer of [state, failed, await alice.client.get(`${given.source.path}/push_mirrors`)])
    expect(answer.text).not.toContain('s3cret')
  const [row] = await service.context.sql`select credentials from push_mirrors where remote_name = ${given.mirror}`
  expect(Buffer.from(row?.credentials).includes('s3cret')).toBe(false)
  const audit = await service.context.sql`select changes from audit_entries where action = 'push_mirror.create'`
  expect(JSON.stringify(audit)).not.toContain('s3cret')
})

test('a failure is shown and tried again; a success ends it', async () => {
  const made = await pair()
  other.answer = () => new Response('no', { status: 404 })
  await sync(made)
  const failed = await stateOf(made)
  expect(failed.string('last_error')).toContain('knows no such repository')
  expect(failed.string('last_update')).toBe('1970-01-01T00:00:00Z')
  other.answer = undefined
  await service.context
    .sql`update push_mirrors set next_at = next_at - interval '61 seconds' where remote_name = ${made.mirror}`
  await runCronTaskNow(service.context, 'update_mirrors')
  await service.drain()
  expect((await stateOf(made)).body).toMatchObject({ last_error: '' })
  await sameRefs(made)
})

test('a server that refuses a branch says why', async () => {
  const made = await pair()
  await other.inside(made.target, 'config', 'receive.denyNonFastForwards', 'true')
  await sync(made)
  expect((await stateOf(made)).string('last_error')).toContain('rejects the push')
})

test('an empty repository empties no other one', async () => {
  await other.create('full')
  const source = await service.createRepository(alice, { auto_init: false })
  await alice.client.post(`${source.path}/push_mirrors`, { remote_address: other.url('full'), interval: '8h' })
  await alice.client.post(`${source.path}/push_mirrors-sync`)
  await service.drain()
  expect(await other.git(['ls-remote', other.url('full')])).toContain('refs/heads/main')
})

const ADDRESSES: readonly (readonly [string, () => string, number])[] = [
  ['a loop', () => `${service.url}/alice/x.git`, 401],
  ['a private address', () => 'http://10.0.0.1/x.git', 401],
  ['a path', () => '/etc', 401],
  ['ssh', () => 'ssh://git@example.org/x.git', 400],
  ['an address as of ssh', () => 'git@example.org:x.git', 400],
  ['an option as a host', () => 'http://-x.example.org/x.git', 400],
]
test.each(ADDRESSES)('%s is refused', async (_, address, status) => {
  const { path } = await service.createRepository(alice)
  const refused = await alice.client.post(`${path}/push_mirrors`, { remote_address: address(), interval: '8h' })
  expect(refused.status).toBe(status)
  expect((await alice.client.get(`${path}/push_mirrors`)).body).toEqual([])
})

test('only administrators of the repository know of them', async () => {
  const { source, mirror } = await pair()
  const body = { remote_address: other.url('x'), interval: '8h' }
  const places: [string, string, object?][] = [
    ['GET', '/push_mirrors'],
    ['POST', '/push_mirrors', body],
    ['POST', '/push_mirrors-sync'],
    ['GET', `/push_mirrors/${mirror}`],
    ['DELETE', `/push_mirrors/${mirror}`],
  ]
  await alice.client.put(`${source.path}/collaborators/bob`, { permission: 'write' })
  for (const [method, place, json] of places) {
    expect((await bob.client.request(source.path + place, { method, json })).status).toBe(403)
    expect((await service.anonymous.request(source.path + place, { method, json })).status).toBe(401)
  }
  const foreign = await service.createRepository(bob)
  expect((await bob.client.get(`${foreign.path}/push_mirrors/${mirror}`)).status).toBe(404)
  expect((await bob.client.delete(`${foreign.path}/push_mirrors/${mirror}`)).status).toBe(204)
  expect((await alice.client.delete(`${source.path}/push_mirrors/${mirror}`)).status).toBe(204)
  expect((await alice.client.get(`${source.path}/push_mirrors/${mirror}`)).status).toBe(404)
})

test('a repository has twenty at most, and they go with it', async () => {
  const { path } = await service.createRepository(alice)
  const add = () => alice.client.post(`${path}/push_mirrors`, { remote_address: other.url('x'), interval: '0' })
  const made = await Promise.all(Array.from({ length: 22 }, add))
  expect(made.map(({ status }) => status).filter((status) => status === 422)).toHaveLength(2)
  const listed = await alice.client.get(`${path}/push_mirrors`, { limit: 5, page: 2 })
  expect([listed.headers.get('x-total-count'), Array.isArray(listed.body) && listed.body.length]).toEqual(['20', 5])
  await alice.client.delete(path)
  expect(await service.context.sql`select 1 from push_mirrors where url = ${other.url('x')}`).toHaveLength(0)
})
