import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Client } from '../harness/client.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'

let service: TestService
let owner: TestUser
let writer: TestUser
beforeAll(async () => {
  service = await startTestService()
  owner = await service.createUser()
  writer = await service.createUser()
})
afterAll(() => service.stop())

/** A repository of the owner with five issues. */
async function make(option: { private?: boolean } = {}): Promise<TestRepository> {
  const made = await service.createRepository(owner, option)
  await owner.client.put(`${made.path}/collaborators/${writer.name}`, { permission: 'write' })
  for (const title of ['a', 'b', 'c', 'd', 'e']) await owner.client.post(`${made.path}/issues`, { title })
  return made
}

const pinOf = ({ path }: TestRepository, index: number | string) => `${path}/issues/${index}/pin`
const pin = async (repo: TestRepository, index: number) => (await owner.client.post(pinOf(repo, index))).status
const unpin = async (repo: TestRepository, index: number) => (await owner.client.delete(pinOf(repo, index))).status
const move = async (repo: TestRepository, index: number, to: number | string) =>
  (await owner.client.patch(`${pinOf(repo, index)}/${to}`)).status
/** Title and number of each pin. */
async function pinned(repo: TestRepository, client: Client = service.anonymous): Promise<string[]> {
  const { status, body } = await client.get(`${repo.path}/issues/pinned`)
  expect(status).toBe(200)
  return Array.isArray(body) ? body.map(({ title, pin_order: order }) => `${title}${order}`) : []
}
const allowed = async (repo: TestRepository) => (await service.anonymous.get(`${repo.path}/new_pin_allowed`)).body

test('three issues are pinned, moved and taken off', async () => {
  const repo = await make()
  expect([await pinned(repo), await allowed(repo)]).toEqual([[], { issues: true, pull_requests: true }])
  for (const index of [1, 2, 3]) expect(await pin(repo, index)).toBe(204)
  expect([await pinned(repo), await allowed(repo)]).toEqual([
    ['a1', 'b2', 'c3'],
    { issues: false, pull_requests: true },
  ])
  expect((await service.anonymous.get(`${repo.path}/issues/2`)).body).toMatchObject({ pin_order: 2 })
  // One that is pinned, and one too many.
  expect([await pin(repo, 1), await pin(repo, 4)]).toEqual([409, 409])
  for (const [index, to, expected] of [
    [3, 1, ['c1', 'a2', 'b3']],
    [3, 1, ['c1', 'a2', 'b3']],
    [3, 2, ['a1', 'c2', 'b3']],
    [1, 99, ['c1', 'b2', 'a3']],
    [1, 1, ['a1', 'c2', 'b3']],
  ] as const) {
    expect(await move(repo, index, to)).toBe(204)
    expect(await pinned(repo)).toEqual([...expected])
  }
  // The others keep their numbers, until one is moved.
  expect([await unpin(repo, 3), await unpin(repo, 3)]).toEqual([204, 204])
  expect(await pinned(repo)).toEqual(['a1', 'b3'])
  expect(await pin(repo, 4)).toBe(204)
  expect(await pinned(repo)).toEqual(['a1', 'b3', 'd4'])
  expect(await move(repo, 4, 2)).toBe(204)
  expect(await pinned(repo)).toEqual(['a1', 'd2', 'b3'])
  // Closed ones stay, deleted ones go.
  await owner.client.patch(`${repo.path}/issues/1`, { state: 'closed' })
  await owner.client.delete(`${repo.path}/issues/2`)
  expect(await pinned(repo)).toEqual(['a1', 'd2'])
  expect(await pin(repo, 5)).toBe(204)
})

test('the timeline tells of pins, and the issue has changed', async () => {
  const repo = await make()
  await service.context.sql`update issues set updated_at = '2020-01-01' where repository_id = ${repo.id}`
  await pin(repo, 1)
  await unpin(repo, 1)
  await unpin(repo, 1)
  const { body } = await service.anonymous.get(`${repo.path}/issues/1/timeline`)
  expect(Array.isArray(body) && body.map(({ type, user }) => [type, user.login])).toEqual([
    ['pin', owner.name],
    ['unpin', owner.name],
  ])
  expect((await owner.client.get(`${repo.path}/issues/1`)).string('updated_at')).not.toStartWith('2020')
})

test('of many who pin at once three do, and no number is given twice', async () => {
  const repo = await make()
  await pin(repo, 1)
  await pin(repo, 2)
  await unpin(repo, 1)
  const statuses = await Promise.all([1, 3, 4, 5, 1, 3, 4, 5].map((index) => pin(repo, index)))
  expect(statuses.sort()).toEqual([204, 204, ...Array(6).fill(409)])
  const titles = await pinned(repo)
  expect(titles.map((one) => one.slice(1))).toEqual(['2', '3', '4'])
  // Moves, pins and unpins beside each other.
  const numbers = [1, 2, 3, 4, 5]
  const all = numbers.flatMap((index) => [unpin(repo, index), move(repo, index, 1), pin(repo, index)])
  for (const status of await Promise.all(all)) expect([204, 404, 409]).toContain(status)
  expect((await pinned(repo)).length).toBeLessThanOrEqual(3)
})

test('pull requests are pinned apart', async () => {
  const repo = await make()
  await service.context.sql`update issues set is_pull = true where repository_id = ${repo.id} and number > 3`
  for (const index of [1, 2, 3, 4, 5]) expect(await pin(repo, index)).toBe(204)
  expect(await pinned(repo)).toEqual(['a1', 'b2', 'c3'])
  expect(await allowed(repo)).toEqual({ issues: false, pull_requests: true })
  expect((await service.anonymous.get(`${repo.path}/issues/5`)).body).toMatchObject({ pin_order: 2 })
  expect(await move(repo, 5, 1)).toBe(204)
  expect((await service.anonymous.get(`${repo.path}/issues/4`)).body).toMatchObject({ pin_order: 2 })
  await owner.client.patch(repo.path, { has_issues: false })
  expect((await owner.client.get(`${repo.path}/issues/pinned`)).status).toBe(404)
})

test.each(['0', '-1', 'first', '1.5', '99999999999999999999'])('%s is no position', async (to) => {
  const repo = await make()
  await pin(repo, 1)
  await pin(repo, 2)
  expect(await move(repo, 1, to)).toBe(422)
  expect(await pinned(repo)).toEqual(['a1', 'b2'])
})

test('pins are for administrators of what is there: 401, 403, 404, 423', async () => {
  const [repo, secret] = [await make(), await make({ private: true })]
  const ask = async (client: Client, place: string) => [
    (await client.post(place)).status,
    (await client.patch(`${place}/1`)).status,
    (await client.delete(place)).status,
  ]
  expect(await ask(service.anonymous, pinOf(repo, 1))).toEqual([401, 401, 401])
  expect(await ask(writer.client, pinOf(repo, 1))).toEqual([403, 403, 403])
  for (const index of [99, 'x']) expect(await ask(owner.client, pinOf(repo, index))).toEqual([404, 404, 404])
  expect(await move(repo, 1, 1)).toBe(404)
  const stranger = await service.createUser()
  expect(await ask(stranger.client, pinOf(secret, 1))).toEqual([404, 404, 404])
  for (const list of ['issues/pinned', 'new_pin_allowed']) {
    expect((await stranger.client.get(`${secret.path}/${list}`)).status).toBe(404)
    expect((await service.anonymous.get(`${secret.path}/${list}`)).status).toBe(404)
    expect((await service.anonymous.get(`${secret.path}x/${list}`)).status).toBe(404)
  }
  await pin(repo, 1)
  await owner.client.patch(repo.path, { archived: true })
  expect(await ask(owner.client, pinOf(repo, 1))).toEqual([423, 423, 423])
  expect(await pinned(repo)).toEqual(['a1'])
  await owner.client.patch(repo.path, { archived: false })
  await owner.client.patch(repo.path, { has_issues: false })
  expect(await ask(owner.client, pinOf(repo, 1))).toEqual([404, 404, 404])
})

test('the list of pins has a tag that changes with them', async () => {
  const repo = await make()
  await pin(repo, 1)
  await pin(repo, 2)
  const list = `${repo.path}/issues/pinned`
  const first = await owner.client.get(list)
  const known = () => owner.client.request(list, { headers: { 'if-none-match': first.headers.get('etag') ?? '' } })
  expect([first.headers.get('x-total-count'), (await known()).status]).toEqual([null, 304])
  await move(repo, 2, 1)
  expect((await known()).status).toBe(200)
})
