import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../../harness/service.ts'

/** Two servers: what the one has, the other takes over. */
let source: TestService
let service: TestService
let author: TestUser
let alice: TestUser
let bob: TestUser
let origin: TestRepository
const EVERYTHING = { labels: true, milestones: true, issues: true, releases: true, wiki: true }
const MARKUP = '<script>alert(1)</script> **bold**'

beforeAll(async () => {
  // Pages of three, whatever is asked for.
  source = await startTestService({ settings: { MAX_RESPONSE_ITEMS: '3' } })
  service = await startTestService({ settings: { MIGRATIONS_ALLOWED_HOSTS: 'loopback' } })
  author = await source.createUser('author')
  alice = await service.createUser('alice')
  bob = await service.createUser('bob')
  // Somebody else of the same name.
  await service.createUser('reader')
  await makeOrigin()
})
afterAll(async () => {
  await service.stop()
  await source.stop()
})

async function makeOrigin(): Promise<void> {
  const reader = await source.createUser('reader')
  origin = await source.createRepository(author, { name: 'origin', auto_init: true, private: true })
  const { path } = origin
  await author.client.put(`${path}/collaborators/reader`, { permission: 'write' })
  const labels: number[] = []
  for (const name of ['bug', 'docs', 'help', 'later'])
    labels.push(
      (await author.client.post(`${path}/labels`, { name, color: '#00aaff', exclusive: name === 'bug' })).number('id'),
    )
  const due = '2030-01-02T00:00:00Z'
  const milestone = (await author.client.post(`${path}/milestones`, { title: 'one', due_on: due })).number('id')
  await author.client.post(`${path}/milestones`, { title: 'over', state: 'closed', description: 'past' })
  for (let count = 1; count <= 7; count++)
    await reader.client.post(`${path}/issues`, { title: `issue ${count}`, body: MARKUP })
  await author.client.patch(`${path}/issues/2`, { state: 'closed' })
  await author.client.delete(`${path}/issues/4`)
  const planned = {
    title: 'planned',
    labels: labels.slice(0, 2),
    milestone,
    assignees: ['reader', 'author'],
    due_date: due,
  }
  await author.client.post(`${path}/issues`, planned)
  await source.context.sql`update issues set is_locked = true where number = 3`
  for (const [issue, client] of [
    [1, reader],
    [1, author],
    [8, reader],
    [2, reader],
  ] as const)
    await client.client.post(`${path}/issues/${issue}/comments`, { body: `on ${issue} by ${client.name}` })
  const releases: number[] = []
  for (const option of [
    { tag_name: 'v1', name: 'One', body: 'notes' },
    { tag_name: 'v2', prerelease: true },
    { tag_name: 'next', draft: true },
  ])
    releases.push((await author.client.post(`${path}/releases`, option)).number('id'))
  for (const name of ['tool.txt', 'other.txt']) {
    const body = new FormData()
    body.set('attachment', new File([`content of ${name}`], name))
    const headers = { authorization: `token ${author.token}` }
    await fetch(`${source.url}/api/v1${path}/releases/${releases[0]}/assets`, { method: 'POST', headers, body })
  }
  await author.client.post(`${path}/wiki/new`, { title: 'Home', content_base64: btoa('first') })
  await author.client.patch(`${path}/wiki/page/Home`, { content_base64: btoa('second') })
  await source.drain()
}

const migrate = (name: string, option: object = {}) =>
  alice.client.post('/repos/migrate', {
    clone_addr: origin.cloneUrl.replace(/\/\/.*@/, '//'),
    auth_token: author.token,
    service: 'gitea',
    repo_name: name,
    ...option,
  })
const list = async (name: string, path: string) => {
  const answer = await alice.client.get(`/repos/alice/${name}/${path}`)
  if (!Array.isArray(answer.body)) throw new Error(answer.text)
  return answer.body
}
const progress = (name: string) => alice.client.get(`/repos/alice/${name}/migration`)

test('labels, milestones, issues, comments and releases come over, with numbers, times and first authors', async () => {
  const made = await migrate('copy', EVERYTHING)
  expect([made.status, made.body]).toMatchObject([201, { empty: true, has_issues: false }])
  expect((await progress('copy')).body).toMatchObject({ status: 'waiting', service: 'gitea', ended: null })
  expect((await alice.client.post('/repos/alice/copy/issues', { title: 'mine' })).status).toBe(404)
  await service.drain()
  expect((await progress('copy')).body).toMatchObject({
    status: 'done',
    last_error: '',
    not_carried: [],
    parts: [
      { name: 'labels', status: 'done', carried: 4, total: 4 },
      { name: 'milestones', carried: 2 },
      { name: 'issues', carried: 7, seen: 7, total: 7 },
      { name: 'comments', carried: 4 },
      { name: 'releases', carried: 3 },
      { name: 'release_files', status: 'done', seen: 2, carried: 2, total: 2 },
      { name: 'wiki', status: 'done', carried: 1 },
    ],
  })
  const shown = await alice.client.get('/repos/alice/copy')
  expect(shown.body).toMatchObject({ has_issues: true, open_issues_count: 6, release_counter: 2, empty: false })
  const issues = await list('copy', 'issues?state=all')
  expect(issues.map(({ number }) => number)).toEqual([8, 7, 6, 5, 3, 2, 1])
  const theirs = (await author.client.get(`${origin.path}/issues/8`)).body
  const kept = (await alice.client.get('/repos/alice/copy/issues/8')).body
  const sameFields = ({
    title,
    body,
    state,
    created_at,
    updated_at,
    closed_at,
    due_date,
    is_locked,
    comments,
  }: never) => ({
    ...{ title, body, state, created_at, updated_at, closed_at, due_date, is_locked, comments },
  })
  expect(sameFields(kept as never)).toEqual(sameFields(theirs as never))
  // The account of the credentials is the doer's own: no other author is kept, and it is assigned.
  expect(kept).toMatchObject({
    ...{ user: { login: 'alice' }, original_author: '', original_author_id: 0 },
    assignees: [{ login: 'alice' }],
    labels: [{ name: 'bug', color: '00aaff', exclusive: true }, { name: 'docs' }],
    milestone: { title: 'one', due_on: '2030-01-02T00:00:00Z', open_issues: 1 },
  })
  // Somebody of the same name here has nothing to do with it.
  const readerId = (await source.anonymous.get('/users/reader')).number('id')
  expect((await alice.client.get('/repos/alice/copy/issues/1')).body).toMatchObject({
    ...{ user: { login: 'alice' }, original_author: 'reader', original_author_id: readerId, body: MARKUP, comments: 2 },
  })
  expect((await alice.client.get('/repos/alice/copy/issues/2')).body).toMatchObject({
    state: 'closed',
    is_locked: false,
  })
  expect((await alice.client.get('/repos/alice/copy/issues/3')).body).toMatchObject({ state: 'open', is_locked: true })
  expect(await list('copy', 'issues/1/comments')).toMatchObject([
    { body: 'on 1 by reader', original_author: 'reader', user: { login: 'alice' } },
    { body: 'on 1 by author', original_author: '' },
  ])
  expect(await list('copy', 'milestones?state=all')).toMatchObject([
    { title: 'one', state: 'open' },
    { title: 'over', state: 'closed', description: 'past' },
  ])
  expect(await list('copy', 'releases')).toContainEqual(
    expect.objectContaining({ tag_name: 'v1', name: 'One', body: 'notes', draft: false, prerelease: false }),
  )
  expect(
    (await list('copy', 'releases')).map(({ tag_name, draft, prerelease }) => [tag_name, draft, prerelease]).sort(),
  ).toEqual([
    ['next', true, false],
    ['v1', false, false],
    ['v2', false, true],
  ])
  expect((await alice.client.post('/repos/alice/copy/issues', { title: 'the next' })).number('number')).toBe(9)
})

test('files of releases come whole, with the credentials that open them there', async () => {
  const [release] = (await list('copy', 'releases')).filter(({ tag_name }) => tag_name === 'v1')
  const there = await author.client.get(`${origin.path}/releases/tags/v1`)
  expect(there.body).toMatchObject({
    assets: release.assets.map(({ name, size, created_at }: never) => ({ name, size, created_at })),
  })
  expect(release.assets).toMatchObject([{ name: 'tool.txt' }, { name: 'other.txt' }])
  const contents: string[] = []
  for (const { browser_download_url: url } of release.assets) contents.push(await (await fetch(url)).text())
  expect(contents).toEqual(['content of tool.txt', 'content of other.txt'])
})

test('the wiki comes with its history, and a repository without one has none', async () => {
  expect((await alice.client.get('/repos/alice/copy/wiki/page/Home')).body).toMatchObject({
    ...{ title: 'Home', content_base64: btoa('second'), commit_count: 2 },
  })
  const wiki = (root: string, { token, name }: TestUser, path: string) =>
    service.git(['ls-remote', `http://${name}:${token}@${new URL(root).host}/${path}.wiki.git`])
  expect(await wiki(service.url, alice, 'alice/copy')).toBe(await wiki(source.url, author, 'author/origin'))
  const bare = await source.createRepository(author, { name: 'bare', auto_init: true })
  await migrate('bare', { clone_addr: bare.cloneUrl.replace(/\/\/.*@/, '//'), wiki: true, issues: true })
  await service.drain()
  expect((await progress('bare')).body).toMatchObject({ status: 'done', parts: [{}, {}, { name: 'wiki', carried: 0 }] })
  const rows = await service.context
    .sql`select 1 from wikis w join repositories r on r.id = w.repository_id where name = 'bare'`
  expect(rows).toHaveLength(0)
})

test('nobody is notified of what came over, and no feed and no hook tells of it', async () => {
  const { sql } = service.context
  const [repository] = await sql`select id from repositories where name = 'copy'`
  const events =
    await sql`select distinct kind from events where repository_id = ${repository?.id} and kind <> 'issue.created'`
  expect(events.map(({ kind }) => kind).sort()).toEqual(['repository.created', 'repository.migrated'])
  expect((await alice.client.get('/notifications')).body).toEqual([])
})

test('counts are those of the rows', async () => {
  const { sql } = service.context
  const [wrong] = await sql`
    select c.* from repository_counters c where
      open_issues_count <> (select count(*) from issues where repository_id = c.repository_id and not is_closed and not is_pull)
      or releases_count <> (select count(*) from releases where repository_id = c.repository_id and not is_draft)
      or last_issue_number < (select coalesce(max(number), 0) from issues where repository_id = c.repository_id)`
  expect(wrong).toBeUndefined()
  const [issue] = await sql`select 1 from issues i where comments_count <>
    (select count(*) from comments where issue_id = i.id and kind = 'comment')`
  expect(issue).toBeUndefined()
  const [milestone] = await sql`select 1 from milestones m where (open_issues_count, closed_issues_count) <>
    ((select count(*) from issues where milestone_id = m.id and not is_closed),
     (select count(*) from issues where milestone_id = m.id and is_closed))`
  expect(milestone).toBeUndefined()
})

test('credentials are sealed, and gone with what they were for', async () => {
  const { sql } = service.context
  const id = (await migrate('sealed', { labels: true })).number('id')
  const [before] = await sql`select credentials from migrations where repository_id = ${id}`
  expect(Buffer.from(before?.credentials).includes(author.token)).toBe(false)
  expect((await progress('sealed')).text).not.toContain(author.token)
  await service.drain()
  const [after] =
    await sql`select credentials, (select count(*) from migration_items where repository_id = ${id}) as items
    from migrations where repository_id = ${id}`
  expect(after).toEqual({ credentials: null, items: 0 } as never)
})

test('what was not asked for does not come, and what cannot come is named', async () => {
  await migrate('some', { issues: true, pull_requests: true, lfs: true })
  await service.drain()
  const told = await progress('some')
  expect(told.body).toMatchObject({ status: 'done', parts: [{ name: 'issues' }, { name: 'comments' }] })
  for (const word of ['pull_requests', 'lfs']) expect(told.text).toContain(`(${word}): not carried over`)
  expect(await list('some', 'labels')).toEqual([])
  expect((await alice.client.get('/repos/alice/some/issues/8')).body).toMatchObject({ labels: [], milestone: null })
})

test('what is switched off on the other server is named, and the rest comes', async () => {
  await author.client.patch(origin.path, { has_issues: false })
  await migrate('partly', EVERYTHING)
  await service.drain()
  await author.client.patch(origin.path, { has_issues: true })
  const told = await progress('partly')
  expect(told.body).toMatchObject({ status: 'done' })
  expect(told.text).toContain('issues: switched off on the other server')
  expect(await list('partly', 'releases')).toHaveLength(3)
  expect((await alice.client.get('/repos/alice/partly')).body).toMatchObject({ has_issues: true, open_issues_count: 0 })
})

test('wrong credentials are told of, and others go on', async () => {
  await migrate('later', { ...EVERYTHING, auth_token: 'wrong' })
  await service.drain()
  expect((await alice.client.get('/repos/alice/later/mirror')).string('last_error')).toContain('credentials')
  expect((await progress('later')).body).toMatchObject({ status: 'waiting' })
  const again = await alice.client.post('/repos/alice/later/migration', { auth_token: author.token })
  expect([again.status, again.text.includes(author.token)]).toEqual([202, false])
  await service.drain()
  expect((await progress('later')).body).toMatchObject({ status: 'done', failures: 0 })
  expect((await alice.client.post('/repos/alice/later/migration', {})).status).toBe(409)
})

test.each([
  ['issues of plain Git', { service: 'git', issues: true }],
  ['issues without a service', { service: '', issues: true }],
  ['issues of a kind of server that is not known', { service: 'gitlab', issues: true }],
  ['issues of a mirror', { service: 'gitea', issues: true, mirror: true }],
  ['keys of AWS', { aws_access_key_id: 'x' }],
  ['an address without owner and name', { clone_addr: 'http://127.0.0.1/x.git', labels: true }],
  ['a word for yes', { issues: 'maybe' }],
])('%s: refused, and nothing is made', async (_, option) => {
  const count = async () => (await service.context.sql`select count(*) from repositories`)[0]?.count
  const before = await count()
  expect([(await migrate('refused', option)).status, await count()]).toEqual([422, before])
})

test('only administrators of the repository see how far it is, and go on', async () => {
  const path = '/repos/alice/some/migration'
  await alice.client.put('/repos/alice/some/collaborators/bob', { permission: 'write' })
  for (const method of ['GET', 'POST']) {
    const ask = async (client: typeof bob.client, place = path) =>
      (await client.request(place, { method, ...(method === 'POST' && { json: {} }) })).status
    expect([method, await ask(service.anonymous), await ask(bob.client)]).toEqual([method, 401, 403])
    expect([
      await ask(alice.client, '/repos/alice/none/migration'),
      await ask(bob.client, '/repos/root/x/migration'),
    ]).toEqual([404, 404])
  }
  const { path: plain } = await service.createRepository(alice)
  expect((await alice.client.get(`${plain}/migration`)).status).toBe(404)
  expect((await alice.client.post(`${plain}/migration`, {})).status).toBe(404)
  expect((await alice.client.post(path, { auth_username: 'a', auth_password: 'b\nc' })).status).toBe(422)
  expect((await alice.client.post(path, { auth_token: 5 })).status).toBe(422)
})
