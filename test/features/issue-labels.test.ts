import { afterAll, beforeAll, expect, test } from 'bun:test'
import { scopeOf } from '../../src/features/labels/exclusive.ts'
import type { Answer } from '../harness/client.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'

let service: TestService
let owner: TestUser
let writer: TestUser
let author: TestUser
let repo: TestRepository
beforeAll(async () => {
  service = await startTestService()
  owner = await service.createUser()
  writer = await service.createUser()
  author = await service.createUser()
  repo = await service.createRepository(owner)
  await owner.client.put(`${repo.path}/collaborators/${writer.name}`, { permission: 'write' })
})
afterAll(() => service.stop())

const newLabel = async (name: string, option: object = {}, path = repo.path): Promise<number> => {
  const made = await owner.client.post(`${path}/labels`, { name, color: '#123456', ...option })
  expect(made.status).toBe(201)
  return made.number('id')
}
const newIssue = async (option: object = {}): Promise<string> => {
  const made = await author.client.post(`${repo.path}/issues`, { title: 'issue', ...option })
  return `${repo.path}/issues/${made.number('number')}`
}
const namesOf = ({ body }: Answer) => (Array.isArray(body) ? body.map(({ name }) => name) : [])
const put = async (issue: string, labels: unknown[]) => namesOf(await writer.client.put(`${issue}/labels`, { labels }))
const add = async (issue: string, labels: unknown[]) => {
  const answer = await writer.client.post(`${issue}/labels`, { labels })
  expect([answer.status, answer.text]).toEqual([200, answer.text])
  return namesOf(answer)
}
const listed = async (issue: string) => namesOf(await service.anonymous.get(`${issue}/labels`))
const idOf = async (issue: string) => (await owner.client.get(issue)).number('id')

test('labels come by id or by name, once each, and are listed by name', async () => {
  const issue = await newIssue()
  const [bug, ui] = [await newLabel('bug'), await newLabel('ui', { is_archived: true })]
  expect(await listed(issue)).toEqual([])
  expect(await add(issue, [ui, bug, ui])).toEqual(['bug', 'ui'])
  expect(await add(issue, ['bug'])).toEqual(['bug', 'ui'])
  expect(await add(issue, [])).toEqual(['bug', 'ui'])
  const { body } = await service.anonymous.get(`${issue}/labels`)
  const url = `${service.context.baseUrl}/api/v1${repo.path}/labels/${bug}`
  expect(body).toMatchObject([{ id: bug, name: 'bug', color: '123456', url }, { is_archived: true }])
  expect((await service.anonymous.get(issue)).body).toMatchObject({ labels: [{ name: 'bug' }, { name: 'ui' }] })
  expect(await put(issue, ['ui'])).toEqual(['ui'])
  expect(await put(issue, [])).toEqual([])
  expect(await add(issue, ['bug', 'ui'])).toEqual(['bug', 'ui'])
  const remove = (id: number) => writer.client.delete(`${issue}/labels/${id}`)
  expect([(await remove(bug)).status, (await remove(bug)).status]).toEqual([204, 204])
  expect(await listed(issue)).toEqual(['ui'])
  expect((await writer.client.delete(`${issue}/labels`)).status).toBe(204)
  expect(await listed(issue)).toEqual([])
  // Keys in any case; nothing given is an empty list.
  expect(namesOf(await writer.client.post(`${issue}/labels`, { LABELS: ['bug'] }))).toEqual(['bug'])
  expect(namesOf(await writer.client.put(`${issue}/labels`, {}))).toEqual([])
})

test('of an exclusive scope the last one stays, also on a new issue', async () => {
  const issue = await newIssue()
  for (const name of ['prio/high', 'prio/low', 'prio/sub/a', 'prio/sub/b']) await newLabel(name, { exclusive: true })
  await newLabel('prio/free')
  expect(await add(issue, ['prio/high', 'prio/low'])).toEqual(['prio/low'])
  expect(await add(issue, ['prio/free', 'prio/high'])).toEqual(['prio/free', 'prio/high'])
  expect(await add(issue, ['prio/sub/a'])).toEqual(['prio/free', 'prio/high', 'prio/sub/a'])
  expect(await put(issue, ['prio/sub/b', 'prio/sub/a', 'prio/low'])).toEqual(['prio/low', 'prio/sub/a'])
  const ids = await Promise.all(
    ['prio/high', 'prio/low'].map(async (name) =>
      (await owner.client.get(`${repo.path}/labels/${encodeURIComponent(name)}`)).number('id'),
    ),
  )
  const made = await owner.client.post(`${repo.path}/issues`, { title: 'x', labels: ids })
  expect(made.body).toMatchObject({ labels: [{ name: 'prio/low' }] })
})

test.each([
  ['a/b', true, 'a/'],
  ['a/b/c', true, 'a/b/'],
  ['a/b', false, undefined],
  ['plain', true, undefined],
  ['/b', true, undefined],
  ['a/', true, undefined],
])('the scope of %p, exclusive %p, is %p', (name, isExclusive, scope) => {
  expect(scopeOf({ name, isExclusive })).toBe(scope)
})

test("an organization's labels are for its own repositories", async () => {
  await owner.client.post('/orgs', { username: 'guild' })
  const wide = await newLabel('wide', {}, '/orgs/guild')
  const hall = await owner.client.post('/orgs/guild/repos', { name: 'hall' })
  expect(hall.status).toBe(201)
  await owner.client.post('/repos/guild/hall/issues', { title: 'x' })
  const labels = '/repos/guild/hall/issues/1/labels'
  for (const label of [wide, 'wide']) {
    const answer = await owner.client.put(labels, { labels: [label] })
    const url = `${service.context.baseUrl}/api/v1/orgs/guild/labels/${wide}`
    expect(answer.body).toMatchObject([{ id: wide, url }])
    expect((await owner.client.get('/repos/guild/hall/issues/1')).body).toMatchObject({ labels: [{ url }] })
  }
  const issue = await newIssue()
  expect(await add(issue, [wide])).toEqual([])
  expect(await add(issue, ['wide'])).toEqual([])
  expect((await writer.client.delete(`${issue}/labels/${wide}`)).status).toBe(422)
  expect((await owner.client.delete(`/orgs/guild/labels/${wide}`)).status).toBe(204)
  expect((await owner.client.get(labels)).body).toEqual([])
})

test('a change is kept in the history and moves the issue; one that changes nothing does not', async () => {
  const issue = await newIssue()
  const [old, young] = [await newLabel('old'), await newLabel('young')]
  const before = (await owner.client.get(issue)).string('updated_at')
  const id = await idOf(issue)
  await service.context.sql`update issues set updated_at = '2020-01-01' where id = ${id}`
  await add(issue, ['nothing of this name'])
  expect((await owner.client.get(issue)).string('updated_at')).toBe('2020-01-01T00:00:00Z')
  await add(issue, [old])
  expect((await owner.client.get(issue)).string('updated_at') >= before).toBe(true)
  await put(issue, [young])
  const rows = await service.context.sql`
    select kind, body, label_id, poster_id from comments where issue_id = ${id} order by id`
  expect(rows.map(({ kind, body, label_id }) => [kind, body, label_id])).toEqual([
    ['label', '1', old],
    ['label', '', old],
    ['label', '1', young],
  ])
  expect((await owner.client.get(issue)).number('comments')).toBe(0)
  await owner.client.delete(`${repo.path}/labels/${old}`)
  expect((await owner.client.get(issue)).status).toBe(200)
})

test.each([
  ['ids and names together', { labels: [1, 'bug'] }, 400, 'array of strings or integers'],
  ['an object for a label', { labels: [{ id: 1 }] }, 400, 'must be an integer or a string'],
  ['null for a label', { labels: [null] }, 400, 'must be an integer or a string'],
  ['half a number', { labels: [1.5] }, 400, 'must be an integer or a string'],
  ['a text for the list', { labels: 'bug' }, 422, '[Labels]'],
  ['a list for the body', ['bug'], 422, '[]'],
  ['more than a hundred', { labels: Array.from({ length: 101 }, (_, at) => at + 1) }, 422, '[Labels]'],
  ['the character NUL', { labels: ['a\0'] }, 422, 'NUL'],
])('%s is refused, and nothing changes', async (_, body, status, message) => {
  const issue = await newIssue()
  await newLabel('kept')
  await add(issue, ['kept'])
  for (const method of ['POST', 'PUT']) {
    const refused = await writer.client.request(`${issue}/labels`, { method, json: body })
    expect([refused.status, refused.string('message')]).toEqual([status, expect.stringContaining(message)])
  }
  expect(await listed(issue)).toContain('kept')
})

test('numbers that no label can have are ignored as unknown ones are', async () => {
  const issue = await newIssue()
  expect(await add(issue, [0, -1, 99_999_999, 1e18, 2 ** 60])).toEqual([])
  for (const id of ['bug', '0', '99999999', '9'.repeat(30)])
    expect((await writer.client.delete(`${issue}/labels/${id}`)).status).toBe(422)
})

test('labels are for writers: 401, 403, 404, 423, and malformed JSON', async () => {
  const issue = await newIssue()
  const label = await newLabel('gate')
  await add(issue, [label])
  const secret = await service.createRepository(owner, { private: true })
  await owner.client.post(`${secret.path}/issues`, { title: 'secret' })
  const tries = (who: { request: typeof owner.client.request }, place: string) =>
    Promise.all([
      who.request(`${place}/labels`, { method: 'POST', json: { labels: [label] } }),
      who.request(`${place}/labels`, { method: 'PUT', json: { labels: [] } }),
      who.request(`${place}/labels`, { method: 'DELETE' }),
      who.request(`${place}/labels/${label}`, { method: 'DELETE' }),
    ]).then((answers) => answers.map(({ status }) => status))
  expect(await tries(service.anonymous, issue)).toEqual([401, 401, 401, 401])
  expect(await tries(author.client, issue)).toEqual([403, 403, 403, 403])
  for (const place of [`${repo.path}/issues/999`, `${repo.path}/issues/x`, `${secret.path}/issues/1`]) {
    expect(await tries(writer.client, place)).toEqual([404, 404, 404, 404])
    expect((await writer.client.get(`${place}/labels`)).status).toBe(404)
  }
  const broken = { method: 'PUT', body: '{', headers: { 'content-type': 'application/json' } }
  expect((await writer.client.request(`${issue}/labels`, broken)).status).toBe(422)
  expect(await listed(issue)).toEqual(['gate'])
  await owner.client.patch(secret.path, { archived: true })
  expect(await tries(owner.client, `${secret.path}/issues/1`)).toEqual([423, 423, 423, 423])
  const off = await service.createRepository(owner)
  await owner.client.post(`${off.path}/issues`, { title: 'x' })
  await owner.client.patch(off.path, { has_issues: false })
  expect(await tries(owner.client, `${off.path}/issues/1`)).toEqual([404, 404, 404, 404])
  expect((await owner.client.get(`${off.path}/issues/1/labels`)).status).toBe(404)
})

test('an issue has a hundred labels at most', async () => {
  const issue = await newIssue()
  await service.context.sql`insert into labels (repository_id, name, color)
    select ${repo.id}, 'many ' || n, '000000' from generate_series(1, 101) n`
  const names = Array.from({ length: 100 }, (_, at) => `many ${at + 1}`)
  expect((await add(issue, names)).length).toBe(100)
  expect((await writer.client.post(`${issue}/labels`, { labels: ['many 101'] })).status).toBe(422)
  expect((await listed(issue)).length).toBe(100)
})

test('forty who add a label each at once lose none; of a scope one remains', async () => {
  const issue = await newIssue()
  await service.context.sql`insert into labels (repository_id, name, color, is_exclusive)
    select ${repo.id}, prefix || n, '000000', prefix = 'lane/' from generate_series(1, 40) n, (values ('crowd '), ('lane/')) p(prefix)`
  const numbers = Array.from({ length: 40 }, (_, at) => at + 1)
  await Promise.all(numbers.map((number) => add(issue, [`crowd ${number}`, `lane/${number}`])))
  const names = await listed(issue)
  expect(names.filter((name) => name.startsWith('crowd ')).length).toBe(40)
  expect(names.filter((name) => name.startsWith('lane/')).length).toBe(1)
  const id = await idOf(issue)
  const [told] = await service.context.sql`
    select count(*)::int as n from events where kind = 'issue.labels_changed' and (payload ->> 'issueId')::bigint = ${id}`
  expect(told).toEqual({ n: 40 })
  const [kept] = await service.context.sql`
    select sum(case when body = '1' then 1 else -1 end)::int as n from comments where kind = 'label' and issue_id = ${id}`
  expect(kept).toEqual({ n: 41 })
})

test('labels that are deleted, changed and put on issues at once end in no fault', async () => {
  const issues = await Promise.all([newIssue(), newIssue()])
  for (let round = 0; round < 3; round += 1) {
    const ids = await Promise.all([1, 2, 3, 4].map((number) => newLabel(`brief ${round} ${number}`)))
    for (const issue of issues) await add(issue, ids.slice(0, 2))
    const answers = await Promise.all([
      ...issues.flatMap((issue) => [
        writer.client.put(`${issue}/labels`, { labels: ids.slice(1) }),
        writer.client.post(`${issue}/labels`, { labels: ids }),
        writer.client.delete(`${issue}/labels/${ids[1]}`),
        writer.client.delete(`${issue}/labels`),
      ]),
      ...ids.map((id) => owner.client.patch(`${repo.path}/labels/${id}`, { exclusive: true, name: `brief/${id}` })),
      ...ids.map((id) => owner.client.delete(`${repo.path}/labels/${id}`)),
    ])
    for (const { status, text } of answers) expect([status < 500, text]).toEqual([true, text])
    for (const issue of issues) expect(await listed(issue)).toEqual([])
  }
})

test('a label is found by its name too, and deleted again without a fault', async () => {
  const first = await newLabel('twice')
  const second = await newLabel('twice')
  const find = (key: string | number) => service.anonymous.get(`${repo.path}/labels/${key}`)
  expect((await find('twice')).number('id')).toBe(first)
  expect((await find(second)).number('id')).toBe(second)
  expect((await find('Twice')).status).toBe(404)
  const remove = () => owner.client.delete(`${repo.path}/labels/${first}`)
  expect([(await remove()).status, (await remove()).status]).toEqual([204, 204])
  expect((await find('twice')).number('id')).toBe(second)
})
