import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'
import { recordStatements } from '../harness/statements.ts'

let service: TestService
let alice: TestUser
let bob: TestUser
let carol: TestUser
let repo: TestRepository
beforeAll(async () => {
  service = await startTestService({ settings: { MAX_RESPONSE_ITEMS: '5', DEFAULT_PAGING_NUM: '3' } })
  alice = await service.createUser('alice')
  bob = await service.createUser('bob')
  carol = await service.createUser('carol')
  repo = await service.createRepository(alice)
})
afterAll(() => service.stop())

const issuesOf = (of: TestRepository) => `${of.path}/issues`
const openCount = async (of: TestRepository) => (await alice.client.get(of.path)).number('open_issues_count')

test('a new issue has the next number and is open', async () => {
  const first = await alice.client.post(issuesOf(repo), { title: ' First ', body: 'text' })
  expect(first.status).toBe(201)
  expect(first.body).toMatchObject({ number: 1, title: 'First', body: 'text', state: 'open', user: { login: 'alice' } })
  const second = await bob.client.post(issuesOf(repo), { title: 'Second' })
  expect(second.body).toMatchObject({ number: 2, user: { login: 'bob' }, assignees: null, labels: [] })
  expect(await openCount(repo)).toBe(2)
})

test('issues made at the same time have numbers without a gap', async () => {
  const busy = await service.createRepository(alice)
  const made = await Promise.all(
    Array.from({ length: 12 }, (_, index) => alice.client.post(issuesOf(busy), { title: `issue ${index}` })),
  )
  const numbers = made.map((answer) => answer.number('number')).sort((left, right) => left - right)
  expect(numbers).toEqual(Array.from({ length: 12 }, (_, index) => index + 1))
  expect(await openCount(busy)).toBe(12)
})

test('a title that is too long is cut where it is changed', async () => {
  const { path } = await service.createRepository(alice)
  await alice.client.post(`${path}/issues`, { title: 'Short' })
  const edit = async (title: string) => (await alice.client.patch(`${path}/issues/1`, { title })).string('title')
  expect(await edit('  ')).toBe('Short')
  expect(await edit(' padded ')).toBe(' padded ')
  expect(await edit('x'.repeat(255))).toBe('x'.repeat(255))
  expect(await edit('x'.repeat(256))).toBe(`${'x'.repeat(252)}…`)
  expect(await edit('😀'.repeat(100))).toBe(`${'😀'.repeat(63)}…`)
})

test('who reads the pull requests of a repository can be asked, and nobody else', async () => {
  const open = await service.createRepository(alice)
  const hidden = await service.createRepository(alice, { private: true })
  await service.createUser('recluse')
  await service.context.sql`update users set visibility = 'private' where name = 'recluse'`
  const ask = (of: TestRepository, name: string) =>
    alice.client.post(issuesOf(of), { title: 'For you', assignees: [name] })
  expect((await ask(open, 'bob')).body).toMatchObject({ assignees: [{ login: 'bob' }] })
  expect((await ask(hidden, 'bob')).status).toBe(422)
  const unseen = { message: 'Assignee does not exist: [name: recluse]', code: 'invalid' }
  expect((await ask(open, 'recluse')).body).toMatchObject(unseen)
  await alice.client.patch(open.path, { has_pull_requests: false })
  expect((await ask(open, 'bob')).status).toBe(422)
})

test('a writer plans an issue; what others plan is left out in silence', async () => {
  const planned = await service.createRepository(alice)
  const label = await alice.client.post(`${planned.path}/labels`, { name: 'bug', color: '#E11' })
  const milestone = await alice.client.post(`${planned.path}/milestones`, {
    title: 'v1',
    due_on: '2030-01-01T00:00:00Z',
  })
  const plan = {
    title: 'Planned',
    labels: [label.number('id')],
    milestone: milestone.number('id'),
    assignees: ['ALICE'],
    due_date: '2030-05-06T01:02:03+02:00',
  }
  const byOwner = await alice.client.post(issuesOf(planned), plan)
  expect(byOwner.body).toMatchObject({
    labels: [{ name: 'bug', color: 'ee1111' }],
    milestone: { title: 'v1', open_issues: 1, closed_issues: 0 },
    assignee: { login: 'alice' },
    due_date: '2030-05-05T23:02:03Z',
  })
  const byOther = await bob.client.post(issuesOf(planned), plan)
  expect(byOther.body).toMatchObject({ labels: [], milestone: null, assignees: null, due_date: null })
})

test('a milestone takes an empty state for none', async () => {
  const planned = await service.createRepository(alice)
  const open = await alice.client.post(`${planned.path}/milestones`, { title: 'm', state: '', due_on: null })
  expect([open.status, open.string('state')]).toEqual([201, 'open'])
  const one = `${planned.path}/milestones/${open.number('id')}`
  expect((await alice.client.patch(one, { state: 'closed' })).string('state')).toBe('closed')
  expect((await alice.client.patch(one, { state: '', title: 'n' })).body).toMatchObject({ title: 'n', state: 'closed' })
  expect((await alice.client.patch(one, { state: 'paused' })).status).toBe(422)
})

test('year one is no deadline', async () => {
  const planned = await service.createRepository(alice)
  const none = '0001-01-01T00:00:00Z'
  const issue = await alice.client.post(issuesOf(planned), { title: 'x', due_date: none })
  expect(issue.body).toMatchObject({ due_date: null })
  const one = `${issuesOf(planned)}/1`
  expect((await alice.client.patch(one, { due_date: '2030-01-01T00:00:00Z' })).string('due_date')).toStartWith('2030')
  expect((await alice.client.patch(one, { due_date: none })).body).toMatchObject({ due_date: null })
  const milestone = await alice.client.post(`${planned.path}/milestones`, { title: 'm', due_on: none })
  expect(milestone.body).toMatchObject({ due_on: null })
})

test('closing counts, and milestones follow', async () => {
  const counted = await service.createRepository(alice)
  const milestone = await alice.client.post(`${counted.path}/milestones`, { title: 'v1' })
  const issue = `${issuesOf(counted)}/1`
  await alice.client.post(issuesOf(counted), { title: 'x', milestone: milestone.number('id') })
  const closed = await alice.client.patch(issue, { state: 'closed' })
  expect(closed.status).toBe(201)
  expect(closed.body).toMatchObject({ state: 'closed', milestone: { open_issues: 0, closed_issues: 1 } })
  expect(closed.string('closed_at')).toMatch(/Z$/)
  expect(await openCount(counted)).toBe(0)
  for (const state of ['', 'asleep', 'Open']) expect((await alice.client.patch(issue, { state })).status).toBe(412)
  expect((await alice.client.get(issue)).body).toMatchObject({ state: 'closed' })
  const again = await alice.client.patch(issue, { state: 'open', milestone: 0 })
  expect(again.body).toMatchObject({ state: 'open', closed_at: null, milestone: null })
  expect(await openCount(counted)).toBe(1)
  expect((await alice.client.delete(issue)).status).toBe(204)
  expect(await openCount(counted)).toBe(0)
  expect((await alice.client.get(issue)).status).toBe(404)
  // A number is given once.
  expect((await alice.client.post(issuesOf(counted), { title: 'y' })).number('number')).toBe(2)
})

test('the author edits the text, a stranger nothing, and a stale edit is refused', async () => {
  const edited = await service.createRepository(alice)
  const issue = `${issuesOf(edited)}/1`
  await bob.client.post(issuesOf(edited), { title: 'Draft', body: 'one' })
  const changed = await bob.client.patch(issue, { title: 'Final', assignees: ['bob'], content_version: 0 })
  expect(changed.body).toMatchObject({ title: 'Final', body: 'one', content_version: 0, assignees: null })
  expect((await bob.client.patch(issue, { body: 'more' })).body).toMatchObject({ content_version: 1 })
  expect((await carol.client.patch(issue, { title: 'Mine' })).status).toBe(403)
  expect((await service.anonymous.patch(issue, { title: 'Mine' })).status).toBe(401)
  expect((await alice.client.patch(issue, { body: 'two', content_version: 0 })).status).toBe(409)
  expect((await alice.client.get(issue)).body).toMatchObject({ title: 'Final', body: 'more' })
})

test.each([
  ['no title', { body: 'x' }, '[Title]: Required'],
  ['an empty title', { title: '' }, '[Title]: Required'],
  ['a title that is a number', { title: 5 }, '[Title]'],
  ['a title of 256 letters', { title: 'x'.repeat(256) }, '[Title]'],
  ['labels that are texts', { title: 'x', labels: ['bug'] }, '[Labels'],
  ['a day that does not exist', { title: 'x', due_date: '2030-13-01T00:00:00Z' }, '[DueDate]'],
  ['an unknown assignee', { title: 'x', assignees: ['nobody'] }, 'Assignee does not exist'],
  ['an unknown milestone', { title: 'x', milestone: 99_999 }, 'milestone does not exist'],
  ['the character NUL', { title: 'a\0b' }, 'NUL'],
])('an issue with %s is refused with 422 and changes nothing', async (_, body, message) => {
  const before = await openCount(repo)
  const refused = await alice.client.post(issuesOf(repo), body)
  expect(refused.status).toBe(422)
  expect(refused.string('message')).toContain(message)
  expect(await openCount(repo)).toBe(before)
})

test('malformed JSON is 422, but only for those who may write', async () => {
  const body = { method: 'POST', body: '{', headers: { 'content-type': 'application/json' } }
  expect((await alice.client.request(issuesOf(repo), body)).status).toBe(422)
  expect((await service.anonymous.request(issuesOf(repo), body)).status).toBe(401)
  expect((await alice.client.request('/repos/alice/nothing/issues', body)).status).toBe(404)
})

test('keys match in any letter case and null counts as absent', async () => {
  const made = await alice.client.post(issuesOf(repo), { TITLE: 'Loud', Body: null, milestone: null })
  expect(made.body).toMatchObject({ title: 'Loud', body: '' })
})

test('lists have pages, totals and links, newest first', async () => {
  const listed = await service.createRepository(alice)
  for (const title of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) await alice.client.post(issuesOf(listed), { title })
  const titles = (answer: { body: unknown }) => (Array.isArray(answer.body) ? answer.body.map((one) => one.title) : [])
  const first = await service.anonymous.get(issuesOf(listed))
  expect(titles(first)).toEqual(['g', 'f', 'e'])
  expect(first.headers.get('x-total-count')).toBe('7')
  expect(first.headers.get('link')).toMatch(/page=2>; rel="next",.*page=3>; rel="last"$/)
  expect(titles(await service.anonymous.get(issuesOf(listed), { limit: 99, page: 2 }))).toEqual(['b', 'a'])
  const beyond = await service.anonymous.get(issuesOf(listed), { page: 9 })
  expect([titles(beyond), beyond.headers.get('link')]).toEqual([[], expect.stringContaining('page=2>; rel="prev"')])
})

test('lists filter by state, label, text, author and milestone', async () => {
  const filtered = await service.createRepository(alice)
  const list = async (query: Record<string, string>) => {
    const answer = await alice.client.get(issuesOf(filtered), query)
    const numbers = Array.isArray(answer.body) ? answer.body.map((one) => one.number) : []
    expect(answer.headers.get('x-total-count')).toBe(String(numbers.length))
    return numbers
  }
  const label = (name: string) => alice.client.post(`${filtered.path}/labels`, { name, color: '00aabb' })
  const [bug, ui] = [(await label('bug')).number('id'), (await label('ui')).number('id')]
  const milestone = (await alice.client.post(`${filtered.path}/milestones`, { title: 'v2' })).number('id')
  await alice.client.post(issuesOf(filtered), { title: 'Broken 100% button', labels: [bug, ui], milestone })
  await alice.client.post(issuesOf(filtered), {
    title: 'Crash',
    body: 'cc @carol',
    labels: [bug],
    assignees: ['alice'],
  })
  await bob.client.post(issuesOf(filtered), { title: 'Question' })
  await alice.client.patch(`${issuesOf(filtered)}/3`, { state: 'closed' })
  expect(await list({})).toEqual([2, 1])
  expect(await list({ state: 'closed' })).toEqual([3])
  expect(await list({ state: 'all' })).toEqual([3, 2, 1])
  expect(await list({ labels: 'bug' })).toEqual([2, 1])
  expect(await list({ labels: 'bug,ui' })).toEqual([1])
  // Wire: unknown names are ignored, and are no filter where they are all there is.
  expect(await list({ labels: 'none' })).toEqual([2, 1])
  expect(await list({ labels: 'none,ui' })).toEqual([1])
  await label('ui')
  expect(await list({ labels: 'ui' })).toEqual([1])
  expect(await list({ q: '100%' })).toEqual([1])
  // Only letters and digits are looked for.
  expect(await list({ q: '%' })).toEqual([])
  expect(await list({ state: 'all', created_by: 'BOB' })).toEqual([3])
  expect(await list({ assigned_by: 'alice' })).toEqual([2])
  expect(await list({ mentioned_by: 'carol' })).toEqual([2])
  expect(await list({ milestones: 'v2' })).toEqual([1])
  expect(await list({ milestones: 'no such' })).toEqual([2, 1])
  expect(await list({ milestones: `no such,${milestone}` })).toEqual([1])
  expect(await list({ type: 'pulls' })).toEqual([])
  expect(await list({ since: '2999-01-01T00:00:00Z', before: '' })).toEqual([])
})

test('a list in a query is one condition, and has an end', async () => {
  const path = issuesOf(await service.createRepository(alice))
  const statements = recordStatements(service.context)
  const names = (count: number) => Array.from({ length: count }, (_, index) => `n"\\{${index}}`).join(',')
  const told: string[][] = []
  for (const count of [1, 100]) {
    statements.clear()
    const answer = await alice.client.get(path, { labels: names(count), milestones: names(count) })
    expect(answer.status).toBe(200)
    told.push(statements.texts())
  }
  statements.stop()
  expect(told[0]).toEqual(told[1])
  const tooMany = [
    `${path}?labels=${names(101)}`,
    `${path}?milestones=${names(101)}`,
    `/notifications?status-types=${names(101)}`,
    `/notifications?subject-type=${names(101)}`,
    path.replace('/issues', `/archive/main.zip?path=${names(101)}`),
    `${path}?${Array.from({ length: 101 }, (_, index) => `labels=${index}`).join('&')}`,
  ]
  for (const one of tooMany) expect([one, (await alice.client.get(one)).status]).toEqual([one, 422])
})

test.each(['created_by', 'assigned_by', 'mentioned_by'])('a list of what nobody has %s is refused', async (key) => {
  const path = issuesOf(await service.createRepository(alice))
  expect((await alice.client.get(path, { [key]: 'no-such-person' })).status).toBe(404)
  expect((await alice.client.get(path, { [key]: 'ALICE' })).status).toBe(200)
})

test.each([
  '2030-01-02T03:04:05Z',
  '2030-01-02T03:04:05',
  '2030-01-02T03:04:05.000000+0000',
  '2030-01-02T05:04:05+02:00',
  '2030-01-02T05:04:05 02:00',
  '2030-01-01T22:04:05-05',
  '2030-01-02 03:04',
  '2030-01-02',
])('a list is since %s', async (since) => {
  const repository = await service.createRepository(alice)
  for (const at of ['2030-01-01T23:00:00Z', '2030-01-02T03:04:05Z']) {
    await alice.client.post(issuesOf(repository), { title: at })
    await service.context.sql`update issues set updated_at = ${at} where title = ${at}`
  }
  const answer = await alice.client.get(issuesOf(repository), { since })
  expect(answer.body).toMatchObject([{ title: '2030-01-02T03:04:05Z' }])
})

test.each(['yesterday', '2030-02-30T00:00:00Z', '2030-01-01T25:00:00Z', '1'])(
  'a list since %s is refused',
  async (since) => {
    const repository = await service.createRepository(alice)
    await alice.client.post(issuesOf(repository), { title: 'x' })
    for (const path of ['', '/comments', '/1/comments'])
      for (const query of ['since', 'before'].map((name) => ({ [name]: since })))
        expect([path, (await alice.client.get(issuesOf(repository) + path, query)).status]).toEqual([path, 422])
  },
)

test('comments are written, read, changed and deleted, and counted', async () => {
  const discussed = await service.createRepository(alice)
  const issue = `${issuesOf(discussed)}/1`
  await alice.client.post(issuesOf(discussed), { title: 'x' })
  const made = await bob.client.post(`${issue}/comments`, { body: 'hello' })
  expect(made.status).toBe(201)
  expect(made.body).toMatchObject({ body: 'hello', user: { login: 'bob' }, pull_request_url: '' })
  const comment = `${issuesOf(discussed)}/comments/${made.number('id')}`
  expect((await alice.client.get(issue)).number('comments')).toBe(1)
  expect((await carol.client.patch(comment, { body: 'mine' })).status).toBe(403)
  expect((await bob.client.patch(comment, { body: 'hello, all' })).body).toMatchObject({ body: 'hello, all' })
  expect((await service.anonymous.get(`${issue}/comments`)).body).toMatchObject([{ body: 'hello, all' }])
  expect((await service.anonymous.get(`${issuesOf(discussed)}/comments`)).headers.get('x-total-count')).toBe('1')
  expect((await alice.client.post(`${issue}/comments`, { body: '' })).status).toBe(422)
  expect((await alice.client.post(`${issuesOf(discussed)}/99/comments`, { body: 'x' })).status).toBe(404)
  // Closing is part of the history, not a comment.
  await alice.client.patch(issue, { state: 'closed' })
  expect((await service.anonymous.get(`${issue}/comments`)).headers.get('x-total-count')).toBe('1')
  expect((await alice.client.delete(comment)).status).toBe(204)
  expect((await alice.client.delete(comment)).status).toBe(404)
  expect((await alice.client.get(issue)).number('comments')).toBe(0)
})

test('a comment is changed and deleted by the path below its issue too', async () => {
  const discussed = await service.createRepository(alice)
  await alice.client.post(issuesOf(discussed), { title: 'x' })
  const made = await bob.client.post(`${issuesOf(discussed)}/1/comments`, { body: 'hello' })
  const comment = `${issuesOf(discussed)}/1/comments/${made.number('id')}`
  expect((await carol.client.patch(comment, { body: 'mine' })).status).toBe(403)
  expect((await bob.client.patch(comment, { body: 'hello, all' })).body).toMatchObject({ body: 'hello, all' })
  expect((await bob.client.patch(`${issuesOf(discussed)}/1/comments/99999`, { body: 'x' })).status).toBe(404)
  const elsewhere = await service.createRepository(bob)
  await bob.client.post(issuesOf(elsewhere), { title: 'x' })
  const borrowed = `${issuesOf(elsewhere)}/1/comments/${made.number('id')}`
  expect((await bob.client.patch(borrowed, { body: 'x' })).status).toBe(404)
  expect((await bob.client.delete(borrowed)).status).toBe(404)
  expect((await carol.client.delete(comment)).status).toBe(403)
  expect((await bob.client.delete(comment)).status).toBe(204)
  expect((await bob.client.delete(comment)).status).toBe(404)
})

test('ids of another repository lead nowhere', async () => {
  const [mine, other] = [await service.createRepository(alice), await service.createRepository(alice)]
  await alice.client.post(issuesOf(mine), { title: 'x' })
  const comment = (await alice.client.post(`${issuesOf(mine)}/1/comments`, { body: 'x' })).number('id')
  const label = (await alice.client.post(`${mine.path}/labels`, { name: 'bug', color: 'aabbcc' })).number('id')
  const milestone = (await alice.client.post(`${mine.path}/milestones`, { title: 'v1' })).number('id')
  for (const path of [`issues/comments/${comment}`, `labels/${label}`, `milestones/${milestone}`]) {
    expect((await alice.client.get(`${other.path}/${path}`)).status).toBe(404)
    expect((await alice.client.patch(`${other.path}/${path}`, { name: 'y', title: 'y', body: 'y' })).status).toBe(404)
    // Wire: a label that is not there is gone already.
    const isGone = path.startsWith('labels/')
    expect((await alice.client.delete(`${other.path}/${path}`)).status).toBe(isGone ? 204 : 404)
    expect((await alice.client.get(`${mine.path}/${path}`)).status).toBe(200)
  }
  const stolen = await alice.client.post(issuesOf(other), { title: 'x', labels: [label] })
  expect(stolen.body).toMatchObject({ labels: [] })
  expect((await alice.client.post(issuesOf(other), { title: 'x', milestone })).status).toBe(422)
})

test('issues of a private repository are unknown to others', async () => {
  const hidden = await service.createRepository(alice, { private: true })
  await alice.client.post(issuesOf(hidden), { title: 'secret' })
  const absent = (await bob.client.get('/repos/alice/absent/issues/1')).text
  const seen = (await bob.client.get(`${issuesOf(hidden)}/1`)).text
  const shape = (text: string) => text.replace(/"request_id":"[^"]+"/, '')
  expect(shape(seen)).toBe(shape(absent))
  expect((await bob.client.post(issuesOf(hidden), { title: 'x' })).status).toBe(404)
  expect((await service.anonymous.get(issuesOf(hidden))).status).toBe(404)
})

test('switched off, issues are gone; archived, they are read only', async () => {
  const changed = await service.createRepository(alice)
  await alice.client.post(issuesOf(changed), { title: 'x' })
  await alice.client.patch(changed.path, { has_issues: false })
  expect((await alice.client.get(issuesOf(changed))).status).toBe(404)
  await alice.client.patch(changed.path, { has_issues: true, archived: true })
  expect((await alice.client.get(`${issuesOf(changed)}/1`)).status).toBe(200)
  const refused = await alice.client.post(issuesOf(changed), { title: 'y' })
  expect([refused.status, refused.string('message')]).toEqual([423, `alice/${changed.name} is archived`])
})

test('a token without the issue scope is told which one it needs', async () => {
  const basic = service.client({ basic: `alice:${alice.password}` })
  const token = (await basic.post('/users/alice/tokens', { name: 'read', scopes: ['read:issue'] })).string('sha1')
  const refused = await service.client({ token }).post(issuesOf(repo), { title: 'x' })
  expect(refused.status).toBe(403)
  expect(refused.body).toMatchObject({ required_scopes: ['write:issue'] })
  expect(refused.string('message')).toContain('required=[write:issue], token scope=read:issue')
})

test('an unchanged list is 304, and any change of what it shows is not', async () => {
  const cached = await service.createRepository(alice)
  await alice.client.post(issuesOf(cached), { title: 'x', assignees: ['alice'] })
  const read = async (etag = '') => alice.client.request(issuesOf(cached), { headers: { 'if-none-match': etag } })
  const etag = (await read()).headers.get('etag') ?? ''
  expect((await read(etag)).status).toBe(304)
  await alice.client.patch('/user/settings', { full_name: 'Alice the First' })
  const changed = await read(etag)
  expect(changed.status).toBe(200)
  expect(changed.text).toContain('Alice the First')
})

test.each([
  ['#0aF', '00aaff'],
  ['00AAFF', '00aaff'],
])('the label color %s is kept as %s', async (color, kept) => {
  const made = await alice.client.post(`${repo.path}/labels`, { name: `c${color}`, color })
  expect(made.body).toMatchObject({ color: kept, exclusive: false, is_archived: false })
})

test('a label with a color that is none is refused', async () => {
  expect((await alice.client.post(`${repo.path}/labels`, { name: 'x', color: 'red' })).status).toBe(422)
  expect((await bob.client.post(`${repo.path}/labels`, { name: 'x', color: '#fff' })).status).toBe(403)
})
