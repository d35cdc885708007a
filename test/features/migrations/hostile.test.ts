import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { startTestService, type TestService, type TestUser } from '../../harness/service.ts'
import { type OtherServer, startOtherServer } from '../mirrors/other-server.ts'
import { type FakeFamily, json, pretendFamily } from './fake-family.ts'

const SETTINGS = { MIGRATIONS_ALLOWED_HOSTS: 'loopback', MIGRATION_MAX_ITEMS: '120', MAX_OWNED: '60' }

let service: TestService
let other: OtherServer
let trap: OtherServer
let alice: TestUser
let fake: FakeFamily
beforeAll(async () => {
  service = await startTestService({ settings: SETTINGS })
  other = await startOtherServer(service.folder)
  trap = await startOtherServer(service.folder)
  alice = await service.createUser('alice')
  await other.create('them/plain')
  await other.inside('them/plain', 'tag', 'v1', 'main')
})
beforeEach(() => {
  fake = pretendFamily(other)
})
afterEach(() => {
  other.answer = undefined
  trap.seen.length = 0
})
afterAll(async () => {
  await other.stop()
  await trap.stop()
  await service.stop()
})

const EVERYTHING = { labels: true, milestones: true, issues: true, releases: true }
let names = 0
/** Migrates, and returns the path of the repository and how far it is after the first try. */
async function migrate(option: object = EVERYTHING) {
  const name = `copy${++names}`
  const body = { clone_addr: other.url('them/plain'), service: 'gitea', repo_name: name, ...option }
  const made = await alice.client.post('/repos/migrate', body)
  expect(made.status).toBe(201)
  await service.drain()
  const path = `/repos/alice/${name}`
  const told = await alice.client.get(`${path}/migration`)
  return { path, told, id: made.number('id') }
}
const at = { created_at: '2020-01-02T03:04:05Z', updated_at: '2020-01-02T03:04:06Z' }
const issue = (number: number, more: object = {}) => ({
  id: number + 1000,
  number,
  title: `issue ${number}`,
  ...at,
  ...more,
})
const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1)
const countOf = async (id: number) => {
  const [row] = await service.context.sql`select count(*)::int as n from issues where repository_id = ${id}`
  return row?.n
}

test('texts, times, numbers and states that cannot be are cut or left out', async () => {
  fake.content = {
    labels: [
      { id: 1, name: 'a\u0000b', color: 'red; background: url(x)' },
      { id: 2, name: '' },
      { id: 3, name: 'x'.repeat(400), description: 'y'.repeat(5000) },
      { id: '4', name: 'text as id' },
      ...[null, 5, [], 'label'],
    ],
    milestones: [{ id: 9, title: '\u0000', state: 'closed', due_on: '9999-99-99T00:00:00Z', closed_at: '0000-00-00' }],
    issues: [
      issue(1, { body: `a\u0000b${'\ud800'}<img src=x onerror=alert(1)>`, created_at: '0000-01-01T00:00:00Z' }),
      issue(2, {
        title: '\u0000'.repeat(10),
        created_at: '9999-12-31T23:59:59Z',
        updated_at: 'yesterday',
        state: 'closed',
      }),
      issue(3, {
        title: 't'.repeat(5000),
        user: { id: -1, login: 'l\u0000\n'.repeat(400) },
        labels: [{ id: 1 }, { id: 99 }],
      }),
      issue(4, { milestone: { id: 9 }, assignees: [{ id: 77, login: 'alice' }], due_date: { $ne: 1 } }),
      issue(5, { pull_request: { merged: true } }),
      ...[0, -1, 1.5, 1e300, 2 ** 31, '6', null].map((number) => ({ ...issue(6), number })),
    ],
    'issues/comments': [
      { id: 1, body: 'c\u0000', issue_url: 'http://x/them/plain/issues/1', ...at, user: { login: 'eve', id: 3 } },
      { id: 2, body: 'on what is not there', issue_url: 'http://x/them/plain/issues/99', ...at },
      { id: 3, body: 'on no issue', issue_url: '../../issues/1?x', ...at },
    ],
    releases: [
      { tag_name: '--upload-pack=x', name: 'x' },
      { tag_name: 'a..b' },
      { tag_name: 'gone', name: 'no tag', ...at },
      { tag_name: 'v1', name: 'One\u0000', ...at, published_at: 'never' },
    ],
  }
  const { path, told } = await migrate()
  expect(told.body).toMatchObject({ status: 'done', last_error: '' })
  expect((await alice.client.get(`${path}/labels`)).body).toMatchObject([
    { name: 'ab', color: 'ededed' },
    { name: 'x'.repeat(255), description: 'y'.repeat(1000) },
  ])
  expect((await alice.client.get(`${path}/milestones?state=all`)).body).toMatchObject([
    { title: 'milestone 9', state: 'closed', due_on: null },
  ])
  const issues = await alice.client.get(`${path}/issues?state=all&sort=oldest`)
  expect((await alice.client.get(`${path}/issues/1`)).string('body')).toBe('ab\ufffd<img src=x onerror=alert(1)>')
  expect((await alice.client.get(`${path}/issues/2`)).body).toMatchObject({ title: '#2', state: 'closed' })
  expect((await alice.client.get(`${path}/issues/3`)).body).toMatchObject({
    title: 't'.repeat(255),
    labels: [{ name: 'ab' }],
  })
  expect((await alice.client.get(`${path}/issues/3`)).string('original_author').length).toBeLessThanOrEqual(255)
  // Without credentials nobody there is known to be anybody here.
  expect((await alice.client.get(`${path}/issues/4`)).body).toMatchObject({
    assignees: null,
    milestone: { title: 'milestone 9' },
  })
  expect(issues.headers.get('x-total-count')).toBe('4')
  expect((await alice.client.get(`${path}/issues/1/comments`)).body).toMatchObject([
    { body: 'c', original_author: 'eve' },
  ])
  expect((await alice.client.get(`${path}/releases`)).body).toMatchObject([
    { tag_name: 'v1', name: 'One', draft: false, published_at: '2020-01-02T03:04:05Z' },
    { tag_name: 'gone', draft: true },
  ])
  expect((await alice.client.post(`${path}/issues`, { title: 'next' })).number('number')).toBe(5)
})

test('ids and numbers that collide come once', async () => {
  fake.content = {
    labels: [
      { id: 1, name: 'a' },
      { id: 1, name: 'b' },
    ],
    issues: [
      issue(1),
      issue(1, { title: 'again' }),
      ...upTo(60).map((number) => issue(number, { labels: [{ id: 1 }, { id: 1 }] })),
    ],
    'issues/comments': upTo(60).map(() => ({ id: 5, body: 'x', issue_url: '/issues/1', ...at })),
    releases: [{ tag_name: 'v1' }, { tag_name: 'v1' }],
  }
  const { path, id } = await migrate()
  expect(await countOf(id)).toBe(60)
  expect((await alice.client.get(`${path}/labels`)).body).toMatchObject([{ name: 'a' }])
  expect((await alice.client.get(`${path}/issues/1/comments`)).body).toHaveLength(1)
  expect((await alice.client.get(`${path}/releases`)).body).toHaveLength(1)
  expect((await alice.client.get(path)).body).toMatchObject({ open_issues_count: 60, release_counter: 1 })
})

test('a server whose pages all are the same one is at its end', async () => {
  fake.content.issues = () => json(upTo(50).map((number) => issue(number)))
  const { told, id } = await migrate({ issues: true })
  expect([told.string('status'), await countOf(id)]).toEqual(['done', 50])
  expect(fake.asked.filter((path) => path.startsWith('issues?'))).toHaveLength(2)
})

test('a list without an end is ended at the limit, and given up', async () => {
  fake.content.issues = (page) => json(upTo(50).map((number) => issue((page - 1) * 50 + number)))
  const { path, told, id } = await migrate({ issues: true })
  expect(told.body).toMatchObject({ status: 'failed', next_attempt: null })
  expect(told.string('last_error')).toContain('more than 120 issues (MIGRATION_MAX_ITEMS)')
  expect(await countOf(id)).toBe(100)
  // Half a list is shown to nobody.
  expect((await alice.client.get(`${path}/issues`)).status).toBe(404)
  const [row] = await service.context.sql`select credentials from migrations where repository_id = ${id}`
  expect(row?.credentials).toBeNull()
})

test('more labels than a repository may have are refused, and none of that page comes', async () => {
  fake.content.labels = upTo(61).map((id) => ({ id, name: `label ${id}` }))
  const { path, told } = await migrate({ labels: true })
  expect(told.string('last_error')).toContain('MAX_OWNED')
  expect((await alice.client.get(`${path}/labels`)).headers.get('x-total-count')).toBe('50')
})

test('totals that lie change nothing', async () => {
  const totals = ['-5', '99999999999999999999', 'many', '1', '999999999']
  fake.content.issues = (page) =>
    json(page <= 3 ? [issue(page)] : [], { 'x-total-count': totals[page % totals.length] ?? '' })
  const { told, id } = await migrate({ issues: true })
  expect([told.string('status'), await countOf(id)]).toEqual(['done', 3])
})

test.each([
  ['no JSON', () => new Response('<html>'), 'does not answer as a server of the Gitea family'],
  ['no list', () => json({ issues: [] }), 'does not answer as a server of the Gitea family'],
  [
    'JSON without a bottom',
    () => new Response('['.repeat(1_000_000)),
    'does not answer as a server of the Gitea family',
  ],
  ['a page of thousands', () => json(upTo(5000)), 'more than 1000 things'],
  ['an error', () => new Response('secret details', { status: 500 }), 'answers with 500'],
  ['that it is too much', () => new Response('', { status: 429 }), 'asks to wait'],
  ['no such thing', () => new Response('', { status: 404 }), 'switched off'],
])('a server that answers %s fails, is tried again, and goes on where it was', async (_, answer, words) => {
  let isWell = false
  fake.content = {
    labels: [{ id: 1, name: 'a' }],
    issues: (page) => (isWell || page < 3 ? json(page < 4 ? [issue(page)] : []) : answer()),
  }
  const { path, told, id } = await migrate({ issues: true, labels: true })
  expect(told.body).toMatchObject({ status: 'failed', failures: 1, next_attempt: expect.any(String) })
  expect(told.string('last_error')).toContain(words)
  expect(told.text).not.toContain('secret')
  expect(await countOf(id)).toBe(2)
  isWell = true
  fake.asked.length = 0
  expect((await alice.client.post(`${path}/migration`, {})).status).toBe(202)
  await service.drain()
  expect(fake.asked.slice(0, 2)).toEqual(['issues?page=3', 'issues?page=4'])
  expect((await alice.client.get(`${path}/migration`)).body).toMatchObject({
    status: 'done',
    failures: 0,
    last_error: '',
  })
  expect(await countOf(id)).toBe(3)
})

test('an answer of a GiB is left after 16 MiB', async () => {
  let sent = 0
  const chunk = new TextEncoder().encode(`"${'x'.repeat(1024 * 1024)}",`)
  fake.content.labels = () =>
    new Response(
      new ReadableStream({
        pull(controller) {
          sent++
          controller.enqueue(sent === 1 ? new TextEncoder().encode('[') : chunk)
          if (sent > 1024) controller.close()
        },
      }),
    )
  const { told } = await migrate({ labels: true })
  expect(told.string('last_error')).toContain('more than 16 MiB')
  expect(sent).toBeLessThan(200)
})

test('a redirect into the network is refused, and one to another server gets no credentials', async () => {
  const strict = await startTestService({ settings: { MIGRATIONS_ALLOWED_HOSTS: '127.0.0.1' } })
  try {
    const user = await strict.createUser('strict')
    const option = { clone_addr: other.url('them/plain'), service: 'gitea', labels: true, auth_token: 'secret' }
    const follow = async (name: string, location: string) => {
      fake.content.labels = () => new Response(null, { status: 302, headers: { location } })
      await user.client.post('/repos/migrate', { ...option, repo_name: name })
      await strict.drain()
      return (await user.client.get(`/repos/strict/${name}/migration`)).string('last_error')
    }
    expect(await follow('cloud', 'http://169.254.169.254/latest/meta-data')).toContain('may not reach')
    expect(await follow('inside', `http://[::1]:${trap.port}/x`)).toContain('may not reach')
    expect(await follow('scheme', 'file:///etc/passwd')).toContain('not an http address')
    expect(trap.seen).toEqual([])
    trap.answer = () => json([])
    expect(await follow('other', `http://127.0.0.1:${trap.port}/x`)).toBe('')
    expect(trap.seen.map(({ authorization }) => authorization)).toEqual(
      [undefined, undefined].slice(0, trap.seen.length),
    )
    expect(trap.seen.length).toBeGreaterThan(0)
  } finally {
    await strict.stop()
  }
})

test('a name that leads inside later reaches nothing', async () => {
  const strict = await startTestService()
  try {
    const user = await strict.createUser('strict')
    const { id, path } = await strict.createRepository(user)
    const apiUrl = `http://localhost:${other.port}/api/v1/repos/them/plain`
    await strict.context
      .sql`insert into migrations (repository_id, service, api_url, started_at) values (${id}, 'gitea', ${apiUrl}, now())`
    await strict.context.sql`insert into migration_parts (repository_id, name, place) values (${id}, 'labels', 0)`
    expect((await user.client.post(`${path}/migration`, {})).status).toBe(202)
    await strict.drain()
    expect((await user.client.get(`${path}/migration`)).string('last_error')).toContain('may not reach')
    expect(fake.asked).toEqual([])
  } finally {
    await strict.stop()
  }
})

test('the account of the credentials is the doer, however it calls itself', async () => {
  fake.content.issues = [
    issue(1, { user: { id: 77, login: 'anybody' }, assignees: [{ id: 77 }] }),
    issue(2, { user: { id: 78, login: 'alice' }, assignees: [{ id: 78, login: 'alice' }] }),
  ]
  const { path } = await migrate({ issues: true, auth_token: 'x' })
  expect((await alice.client.get(`${path}/issues/1`)).body).toMatchObject({
    original_author: '',
    assignees: [{ login: 'alice' }],
  })
  expect((await alice.client.get(`${path}/issues/2`)).body).toMatchObject({
    ...{ original_author: 'alice', original_author_id: 78, assignees: null },
  })
})

test('numbers of pull requests are not given to others', async () => {
  fake.repository = { id: 1, has_issues: true, has_pull_requests: true }
  fake.content.issues = (page, request) =>
    json(request.url.includes('type=pulls') ? [issue(41)] : page === 1 ? [issue(7)] : [])
  const { path } = await migrate({ issues: true })
  expect((await alice.client.post(`${path}/issues`, { title: 'next' })).number('number')).toBe(42)
})

test('a repository that is deleted in the middle ends its migration', async () => {
  fake.content.issues = async (page) => {
    if (page === 2) expect((await alice.client.delete(`/repos/alice/copy${names}`)).status).toBe(204)
    return json([issue(page)])
  }
  const body = { clone_addr: other.url('them/plain'), service: 'gitea', repo_name: `copy${++names}`, issues: true }
  expect((await alice.client.post('/repos/migrate', body)).status).toBe(201)
  await service.drain()
  const left = await service.context.sql`select 1 from jobs where last_error is not null`
  expect(left).toHaveLength(0)
  expect(fake.asked.at(-1)).toBe('issues?page=2')
})
