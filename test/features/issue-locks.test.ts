import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Client } from '../harness/client.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'

let service: TestService
let owner: TestUser
let writer: TestUser
let author: TestUser
let repo: TestRepository
let secret: TestRepository
beforeAll(async () => {
  service = await startTestService()
  owner = await service.createUser()
  writer = await service.createUser()
  author = await service.createUser()
  repo = await service.createRepository(owner)
  secret = await service.createRepository(owner, { private: true })
  await owner.client.put(`${repo.path}/collaborators/${writer.name}`, { permission: 'write' })
  await owner.client.post(`${secret.path}/issues`, { title: 'secret' })
})
afterAll(() => service.stop())

async function newIssue(option: object = {}): Promise<string> {
  const made = await author.client.post(`${repo.path}/issues`, { title: 'issue', ...option })
  return `${repo.path}/issues/${made.number('number')}`
}

/** What the issue's history says, oldest first. */
async function historyOf(issue: string): Promise<unknown[][]> {
  const id = (await owner.client.get(issue)).number('id')
  const rows = await service.context.sql<{ kind: string; body: string; name: string }[]>`
    select comments.kind, body, users.name from comments join users on users.id = poster_id
    where issue_id = ${id} and comments.kind <> 'comment' order by comments.id`
  return rows.map(({ kind, body, name }) => [kind, body, name])
}

test('a locked conversation is for writers, until it is unlocked', async () => {
  const issue = await newIssue()
  const comment = async ({ client }: TestUser) => (await client.post(`${issue}/comments`, { body: 'x' })).status
  const lock = (reason: string) => owner.client.put(`${issue}/lock`, { lock_reason: reason })
  expect([(await lock('Too heated')).status, (await lock('spam')).status]).toEqual([204, 204])
  expect((await service.anonymous.get(issue)).body).toMatchObject({ is_locked: true })
  expect([await comment(author), await comment(writer), await comment(owner)]).toEqual([403, 201, 201])
  const unlock = () => owner.client.delete(`${issue}/lock`)
  expect([(await unlock()).status, (await unlock()).status]).toEqual([204, 204])
  expect((await service.anonymous.get(issue)).body).toMatchObject({ is_locked: false })
  expect(await comment(author)).toBe(201)
  expect((await owner.client.put(`${issue}/lock`, {})).status).toBe(204)
  expect(await historyOf(issue)).toEqual([
    ['lock', 'Too heated', owner.name],
    ['unlock', '', owner.name],
    ['lock', '', owner.name],
  ])
})

test('of many who lock at once one does', async () => {
  const issue = await newIssue()
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, at) => owner.client.put(`${issue}/lock`, { lock_reason: `reason ${at}` })),
  )
  expect(answers.map(({ status }) => status)).toEqual(Array(12).fill(204))
  expect((await historyOf(issue)).length).toBe(1)
})

test('a deadline is the end of the day as it is written', async () => {
  const issue = await newIssue()
  const set = async (due: unknown, who = writer) => {
    const answer = await who.client.post(`${issue}/deadline`, { due_date: due })
    expect(answer.status).toBe(201)
    expect((await service.anonymous.get(issue)).body).toMatchObject(Object(answer.body))
    return Object(answer.body).due_date
  }
  expect(await set('2030-01-02T03:04:05Z')).toBe('2030-01-02T23:59:59Z')
  expect(await set('2030-01-02T23:00:00+14:00')).toBe('2030-01-02T23:59:59Z')
  expect(await set('2032-02-29T22:30:00.5-08:00', owner)).toBe('2032-02-29T23:59:59Z')
  expect(await set(null)).toBeNull()
  expect(await set(undefined)).toBeNull()
  expect(await set('0001-01-01T00:00:00Z')).toBeNull()
  const edit = (change: object) => writer.client.patch(issue, change)
  expect((await edit({ due_date: '2033-01-01T10:00:00Z' })).body).toMatchObject({ due_date: '2033-01-01T23:59:59Z' })
  expect((await edit({ title: 'kept', due_date: null })).body).toMatchObject({ due_date: '2033-01-01T23:59:59Z' })
  expect((await edit({ title: 'lost', unset_due_date: false })).status).toBe(400)
  expect((await edit({ due_date: '2034-01-01T10:00:00Z', unset_due_date: true })).body).toMatchObject({
    title: 'kept',
    due_date: null,
  })
  expect(await historyOf(issue)).toEqual([
    ['added_deadline', '2030-01-02', writer.name],
    ['modified_deadline', '2032-02-29|2030-01-02', owner.name],
    ['removed_deadline', '2032-02-29', writer.name],
    ['added_deadline', '2033-01-01', writer.name],
    ['change_title', '', writer.name],
    ['removed_deadline', '2033-01-01', writer.name],
  ])
})

test('a deadline that moves is a change of the issue; one that stays is none', async () => {
  const issue = await newIssue()
  const id = (await owner.client.get(issue)).number('id')
  const updatedAt = async () => (await owner.client.get(issue)).string('updated_at')
  for (const path of ['deadline', 'lock'] as const) {
    await service.context.sql`update issues set updated_at = '2020-01-01' where id = ${id}`
    const send = () =>
      path === 'lock'
        ? owner.client.put(`${issue}/lock`, { lock_reason: 'x' })
        : owner.client.post(`${issue}/deadline`, { due_date: '2030-01-01T00:00:00Z' })
    await send()
    expect(await updatedAt()).not.toStartWith('2020')
    await service.context.sql`update issues set updated_at = '2020-01-01' where id = ${id}`
    await send()
    expect(await updatedAt()).toStartWith('2020')
  }
})

test.each([
  ['a day alone', { due_date: '2030-01-02' }],
  ['no zone', { due_date: '2030-01-02T00:00:00' }],
  ['words', { due_date: 'tomorrow' }],
  ['an empty text', { due_date: '' }],
  ['a number', { due_date: 1893456000 }],
  ['a day that does not exist', { due_date: '2030-02-30T00:00:00Z' }],
])('%s is no deadline', async (_, body) => {
  const issue = await newIssue()
  expect((await writer.client.post(`${issue}/deadline`, body)).status).toBe(422)
  expect((await owner.client.get(issue)).body).toMatchObject({ due_date: null })
})

type Route = readonly [method: string, path: string, json?: object]
const administered: readonly Route[] = [
  ['PUT', 'lock', { lock_reason: 'spam' }],
  ['DELETE', 'lock'],
]
const planned: readonly Route[] = [['POST', 'deadline', { due_date: '2030-01-01T00:00:00Z' }]]

const statuses = (client: Client, place: string, routes: readonly Route[]) =>
  Promise.all(routes.map(([method, path, json]) => client.request(`${place}/${path}`, { method, json }))).then(
    (answers) => [...new Set(answers.map(({ status }) => status))],
  )

test('locks are for administrators and deadlines for writers: 401, 403, 404, 423', async () => {
  const issue = await newIssue()
  const all = [...administered, ...planned]
  expect(await statuses(service.anonymous, issue, all)).toEqual([401])
  expect(await statuses(author.client, issue, all)).toEqual([403])
  expect(await statuses(writer.client, issue, administered)).toEqual([403])
  for (const place of [`${repo.path}/issues/999`, `${repo.path}/issues/x`])
    expect(await statuses(owner.client, place, all)).toEqual([404])
  expect(await statuses(writer.client, `${secret.path}/issues/1`, all)).toEqual([404])
  expect((await owner.client.get(issue)).body).toMatchObject({ is_locked: false, due_date: null })
  const old = await service.createRepository(owner)
  await owner.client.post(`${old.path}/issues`, { title: 'x' })
  await owner.client.patch(old.path, { archived: true })
  expect(await statuses(owner.client, `${old.path}/issues/1`, all)).toEqual([423])
  await owner.client.patch(old.path, { archived: false })
  await owner.client.patch(old.path, { has_issues: false })
  expect(await statuses(owner.client, `${old.path}/issues/1`, all)).toEqual([404])
})

test('a body that is none, or of another kind, is refused', async () => {
  const issue = await newIssue()
  const broken = { body: '{', headers: { 'content-type': 'application/json' } }
  const long = 'x'.repeat(256)
  const answers = [
    await owner.client.put(`${issue}/lock`),
    await owner.client.put(`${issue}/lock`, { lock_reason: 7 }),
    await owner.client.put(`${issue}/lock`, { lock_reason: 'a\0' }),
    await owner.client.put(`${issue}/lock`, { lock_reason: long }),
    await owner.client.request(`${issue}/lock`, { method: 'PUT', ...broken }),
    await owner.client.post(`${issue}/deadline`),
    await owner.client.request(`${issue}/deadline`, { method: 'POST', ...broken }),
  ]
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 422))
  expect(await historyOf(issue)).toEqual([])
})
