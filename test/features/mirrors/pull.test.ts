import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { runCronTaskNow } from '../../../src/jobs/cron-tasks.ts'
import { startTestService, type TestService, type TestUser } from '../../harness/service.ts'
import { type OtherServer, startOtherServer } from './other-server.ts'

let service: TestService
let other: OtherServer
let alice: TestUser
let bob: TestUser
beforeAll(async () => {
  service = await startTestService({ settings: { MIGRATIONS_ALLOWED_HOSTS: 'loopback' } })
  other = await startOtherServer(service.folder)
  alice = await service.createUser('alice')
  bob = await service.createUser('bob')
})
afterEach(() => {
  other.answer = undefined
})
afterAll(async () => {
  await other.stop()
  await service.stop()
})

const path = (name: string) => `/repos/alice/${name}`
const copyUrl = (name: string) => `http://alice:${alice.token}@${new URL(service.url).host}/alice/${name}.git`
const sameRefs = async (name: string) =>
  expect(await service.git(['ls-remote', copyUrl(name)])).toBe(await service.git(['ls-remote', other.url(name)]))
const stateOf = async (name: string) => (await alice.client.get(`${path(name)}/mirror`)).body
const shown = async (name: string) => (await alice.client.get(path(name))).body

/** A mirror of a new repository of the same name. */
async function mirror(name: string, option: object = {}): Promise<number> {
  await other.create(name)
  const body = { clone_addr: other.url(name), repo_name: name, mirror: true, ...option }
  const made = await alice.client.post('/repos/migrate', body)
  expect(made.status).toBe(201)
  await service.drain()
  return made.number('id')
}

async function sync(name: string): Promise<void> {
  expect((await alice.client.post(`${path(name)}/mirror-sync`)).status).toBe(200)
  await service.drain()
}

test('a mirror follows: new, moved, forced and deleted branches and tags', async () => {
  const id = await mirror('follow')
  await sameRefs('follow')
  expect(await shown('follow')).toMatchObject({ mirror: true, mirror_interval: '8h0m0s', empty: false })
  await other.commit('follow', 'main')
  await other.commit('follow', 'topic/one')
  await other.inside('follow', 'tag', 'v1', 'main')
  await sync('follow')
  await sameRefs('follow')
  const events = await service.context.sql`
    select kind, payload->>'ref' as ref, actor_id from events where repository_id = ${id} and kind <> 'repository.created' order by id`
  expect(events.map(({ kind, ref }) => `${kind} ${ref}`).sort()).toEqual([
    'push refs/heads/main',
    'push refs/heads/topic/one',
    'push refs/tags/v1',
    'ref.created refs/heads/topic/one',
    'ref.created refs/tags/v1',
  ])
  // A name becomes a folder, a history goes back, a tag goes.
  await other.inside('follow', 'update-ref', 'refs/heads/main', 'main~1')
  await other.inside('follow', 'branch', '-D', 'topic/one')
  await other.commit('follow', 'topic')
  await other.inside('follow', 'tag', '-d', 'v1')
  await sync('follow')
  await sameRefs('follow')
  const at = (await alice.client.get(`${path('follow')}/mirror`)).string('last_update')
  expect(await shown('follow')).toMatchObject({ branch_count: 2, mirror_updated: at, mirror_last_sync_at: at })
  expect((await service.context.git.fsck(id, { isFull: true })).isSound).toBe(true)
})

test('feeds tell what the other server has changed, in the words for mirrors', async () => {
  await mirror('feed')
  const words = async () => {
    const { body } = await alice.client.get(`${path('feed')}/activities/feeds`, { limit: 50 })
    if (!Array.isArray(body)) throw new Error('no feed')
    return body.map(({ op_type, ref_name, content }) => ({ op_type, ref_name, content }))
  }
  const created = { op_type: 'create_repo', ref_name: '', content: '' }
  expect(await words()).toEqual([created])
  const sha = await other.commit('feed', 'main')
  await other.inside('feed', 'tag', 'v1', 'main')
  await sync('feed')
  const told = await words()
  expect(told.map(({ op_type, ref_name }) => `${op_type} ${ref_name}`).sort()).toEqual([
    'create_repo ',
    'mirror_sync_create refs/tags/v1',
    'mirror_sync_push refs/heads/main',
    'mirror_sync_push refs/tags/v1',
  ])
  const pushed = told.filter(({ op_type }) => op_type === 'mirror_sync_push')
  const lists = pushed.map(({ ref_name, content }) => [ref_name, JSON.parse(content)]).sort()
  expect(lists).toMatchObject([
    ['refs/heads/main', { Len: 1, Commits: [{ Sha1: sha }] }],
    ['refs/tags/v1', { Len: 0, Commits: [], HeadCommit: null, CompareURL: '' }],
  ])
  await other.inside('feed', 'tag', '-d', 'v1')
  await sync('feed')
  expect((await words())[0]).toEqual({ op_type: 'mirror_sync_delete', ref_name: 'refs/tags/v1', content: '' })
})

test('without pruning what is gone there stays here', async () => {
  await mirror('keep')
  expect((await alice.client.patch(path('keep'), { enable_prune: false })).status).toBe(200)
  await other.commit('keep', 'old')
  await sync('keep')
  await other.inside('keep', 'branch', '-D', 'old')
  await sync('keep')
  expect((await alice.client.get(`${path('keep')}/branches/old`)).status).toBe(200)
  await alice.client.patch(path('keep'), { enable_prune: true })
  await sync('keep')
  expect((await alice.client.get(`${path('keep')}/branches/old`)).status).toBe(404)
})

test('nobody writes to a mirror, and who pushes is told why in one line', async () => {
  await mirror('closed')
  const clone = await service.git.run(['clone', '-q', copyUrl('closed'), 'closed'])
  expect(clone.exitCode).toBe(0)
  const cwd = `${service.git.folder}/closed`
  await service.git(['commit', '-q', '--allow-empty', '-m', 'mine'], { cwd })
  const push = await service.git.run(['push', 'origin', 'main'], { cwd })
  expect([push.exitCode === 0, push.stderr]).toEqual([
    false,
    expect.stringContaining('alice/closed is a mirror: it takes no pushes'),
  ])
  const contents = await alice.client.post(`${path('closed')}/contents/x.txt`, { content: btoa('x') })
  const branch = await alice.client.post(`${path('closed')}/branches`, { new_branch_name: 'x' })
  const tag = await alice.client.post(`${path('closed')}/tags`, { tag_name: 'x' })
  const release = await alice.client.post(`${path('closed')}/releases`, { tag_name: 'x' })
  expect([contents.status, branch.status, tag.status, release.status]).toEqual([423, 403, 403, 403])
  await sameRefs('closed')
})

test('it is brought up to date when its time has come, and not before', async () => {
  const id = await mirror('clock', { mirror_interval: '1h' })
  const due = async () => {
    await runCronTaskNow(service.context, 'update_mirrors')
    other.seen.length = 0
    await service.drain()
    return other.seen.length > 0
  }
  expect(await due()).toBe(false)
  await service.context
    .sql`update pull_mirrors set next_at = next_at - interval '61 minutes' where repository_id = ${id}`
  await other.commit('clock', 'main')
  expect(await due()).toBe(true)
  await sameRefs('clock')
  expect(await due()).toBe(false)
  await alice.client.patch(path('clock'), { archived: true })
  await service.context
    .sql`update pull_mirrors set next_at = next_at - interval '61 minutes' where repository_id = ${id}`
  expect(await due()).toBe(false)
})

test('the interval is changed by an edit, within its bounds; 0 is never by the clock', async () => {
  await mirror('interval', { mirror_interval: '30m' })
  expect(await shown('interval')).toMatchObject({ mirror_interval: '30m0s' })
  for (const mirror_interval of ['1m', '-1h', 'often', ''])
    expect((await alice.client.patch(path('interval'), { mirror_interval })).status).toBe(422)
  const changed = await alice.client.patch(path('interval'), { mirror_interval: '1.5h' })
  expect([changed.status, changed.string('mirror_interval')]).toEqual([200, '1h30m0s'])
  await alice.client.patch(path('interval'), { mirror_interval: '0' })
  expect(await stateOf('interval')).toMatchObject({ interval: '0s', next_attempt: null })
  await sync('interval')
  expect(await stateOf('interval')).toMatchObject({ status: 'current', next_attempt: null })
  const { path: plain } = await service.createRepository(alice)
  const untouched = await alice.client.patch(plain, { mirror_interval: '1m', enable_prune: true })
  expect([untouched.status, untouched.string('mirror_interval')]).toEqual([200, ''])
})

test('a failure is kept, shown and tried again ever later; a success ends it', async () => {
  await mirror('weak')
  const updated = (await alice.client.get(path('weak'))).string('mirror_updated')
  other.answer = () => new Response('no', { status: 500 })
  const waits: number[] = []
  for (let failures = 1; failures <= 3; failures++) {
    await sync('weak')
    const state = await alice.client.get(`${path('weak')}/mirror`)
    expect(state.body).toMatchObject({ status: 'failed', failures })
    waits.push(Date.parse(state.string('next_attempt')) - Date.parse(state.string('last_attempt')))
  }
  expect(waits).toEqual([...waits].sort((one, other) => one - other))
  expect(waits[2]).toBeGreaterThan(3 * (waits[1] ?? 0))
  expect(await shown('weak')).toMatchObject({ mirror_updated: updated, empty: false })
  other.answer = undefined
  await sync('weak')
  expect(await stateOf('weak')).toMatchObject({ status: 'current', failures: 0, last_error: '' })
})

test('a page in place of the repository empties no mirror', async () => {
  await mirror('page')
  other.answer = () => new Response('<html>back soon</html>')
  await sync('page')
  expect(await stateOf('page')).toMatchObject({ status: 'failed' })
  other.answer = undefined
  await sameRefs('page')
})

test('a mirror asks with the credentials that it was made with', async () => {
  await other.create('locked')
  other.credentials = 'me:secret'
  const body = { clone_addr: other.url('locked'), repo_name: 'locked', mirror: true, auth_username: 'me' }
  await alice.client.post('/repos/migrate', { ...body, auth_password: 'secret' })
  await service.drain()
  other.credentials = undefined
  await other.commit('locked', 'main')
  other.credentials = 'me:secret'
  await sync('locked')
  other.credentials = undefined
  await sameRefs('locked')
  const state = await alice.client.get(`${path('locked')}/mirror`)
  expect(state.text).not.toContain('secret')
  const [row] = await service.context.sql`select credentials from pull_mirrors where url = ${other.url('locked')}`
  expect(Buffer.from(row?.credentials).includes('secret')).toBe(false)
})

test('who may write asks for an update; who administers sees how it is', async () => {
  await mirror('rights')
  const { path: plain } = await service.createRepository(alice)
  const ask = (user: TestUser, place: string) => user.client.post(`${place}/mirror-sync`)
  expect((await ask(bob, path('rights'))).status).toBe(403)
  expect((await service.anonymous.post(`${path('rights')}/mirror-sync`)).status).toBe(401)
  expect((await ask(alice, path('nothing'))).status).toBe(404)
  expect([(await ask(alice, plain)).status, (await ask(alice, plain)).string('message')]).toEqual([
    400,
    'Repository is not a mirror',
  ])
  await alice.client.put(`${path('rights')}/collaborators/bob`, { permission: 'write' })
  expect((await ask(bob, path('rights'))).status).toBe(200)
  expect((await bob.client.get(`${path('rights')}/mirror`)).status).toBe(403)
  expect((await service.anonymous.get(`${path('rights')}/mirror`)).status).toBe(401)
  expect((await alice.client.get(`${plain}/mirror`)).status).toBe(404)
})

test('the settings say that both are there', async () => {
  expect((await service.anonymous.get('/settings/repository')).body).toMatchObject({
    mirrors_disabled: false,
    migrations_disabled: false,
  })
})
