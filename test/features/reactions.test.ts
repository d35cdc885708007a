import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Client } from '../harness/client.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'

let service: TestService
let owner: TestUser
let author: TestUser
let other: TestUser
let repo: TestRepository
/** The reactions to an issue and to a comment on it, both the author's. */
let places: string[]
beforeAll(async () => {
  service = await startTestService()
  owner = await service.createUser()
  author = await service.createUser()
  other = await service.createUser()
  repo = await service.createRepository(owner)
  places = await makePlaces()
})
afterAll(() => service.stop())

async function makePlaces(): Promise<string[]> {
  const issue = (await author.client.post(`${repo.path}/issues`, { title: 'first' })).number('number')
  const at = `${repo.path}/issues/${issue}`
  const comment = (await author.client.post(`${at}/comments`, { body: 'text' })).number('id')
  return [`${at}/reactions`, `${repo.path}/issues/comments/${comment}/reactions`]
}

const add = (client: Client, place: string, content: unknown = 'heart') => client.post(place, { content })
const remove = (client: Client, place: string, json: object = { content: 'heart' }) =>
  client.request(place, { method: 'DELETE', json })
async function listed(place: string, query = ''): Promise<string[]> {
  const { status, body } = await service.anonymous.get(`${place}${query}`)
  expect(status).toBe(200)
  return Array.isArray(body) ? body.map(({ user, content }) => `${user.login} ${content}`) : []
}

test('people react once with each word, and take it back', async () => {
  for (const place of places) {
    const first = await add(other.client, place)
    expect([first.status, first.string('content'), first.string('user.login')]).toEqual([201, 'heart', other.name])
    const again = await add(other.client, place)
    expect([again.status, again.body]).toEqual([200, first.body])
    expect((await add(owner.client, place)).status).toBe(201)
    expect((await add(other.client, place, '+1')).status).toBe(201)
    expect(await listed(place)).toEqual([`${other.name} heart`, `${owner.name} heart`, `${other.name} +1`])
    expect([(await remove(other.client, place)).status, (await remove(other.client, place)).status]).toEqual([204, 204])
    expect(await listed(place)).toEqual([`${owner.name} heart`, `${other.name} +1`])
    expect((await remove(owner.client, place, { content: '+1' })).status).toBe(204)
    expect(await listed(place)).toEqual([`${owner.name} heart`, `${other.name} +1`])
  }
})

test('those to an issue come in pages with their number, those to a comment at once', async () => {
  const [issue = '', comment = ''] = await makePlaces()
  for (const content of ['heart', '+1', 'eyes'])
    for (const place of [issue, comment]) await add(other.client, place, content)
  const { headers } = await service.anonymous.get(`${issue}?limit=2`)
  expect([headers.get('x-total-count'), headers.get('link')]).toEqual(['3', null])
  expect(await listed(issue, '?limit=2&page=2')).toEqual([`${other.name} eyes`])
  const whole = await service.anonymous.get(`${comment}?limit=2`)
  expect(whole.headers.get('x-total-count')).toBeNull()
  expect(await listed(comment, '?limit=2')).toHaveLength(3)
})

test('only the words of the site are taken', async () => {
  const { body } = await service.anonymous.get('/settings/ui')
  expect(body).toMatchObject({ allowed_reactions: expect.arrayContaining(['heart']) })
  for (const place of places) {
    const before = await listed(place)
    for (const word of ['grumpy', 'Heart', ':heart:', '👍', ''])
      expect([word, (await add(other.client, place, word)).status]).toEqual([word, 403])
    expect((await other.client.post(place, {})).status).toBe(403)
    for (const word of [1, ['heart']]) expect((await add(other.client, place, word)).status).toBe(422)
    expect((await other.client.request(place, { method: 'POST', body: '{' })).status).toBe(422)
    expect((await remove(other.client, place, {})).status).toBe(422)
    expect((await remove(other.client, place, { content: 'grumpy' })).status).toBe(204)
    expect(await listed(place)).toEqual(before)
  }
})

test('a hundred at once leave one reaction of each person', async () => {
  for (const place of await makePlaces()) {
    const statuses = await Promise.all(
      Array.from({ length: 100 }, (_, n) =>
        add(n % 2 ? owner.client : other.client, place).then(({ status }) => status),
      ),
    )
    expect(statuses.toSorted()).toEqual([...Array(98).fill(200), 201, 201])
    expect((await listed(place)).toSorted()).toEqual([`${other.name} heart`, `${owner.name} heart`].toSorted())
  }
})

test('who has not signed in may only look', async () => {
  for (const place of places) {
    expect((await add(service.anonymous, place)).status).toBe(401)
    expect((await remove(service.anonymous, place)).status).toBe(401)
  }
})

test('whom the owner, the author of the issue or of the comment has blocked cannot react', async () => {
  const pest = await service.createUser()
  const [issue = '', comment = ''] = await makePlaces()
  const commenter = await service.createUser()
  const made = await commenter.client.post(issue.replace('/reactions', '/comments'), { body: 'mine' })
  const theirs = comment.replace(/\d+(?=\/reactions)/, String(made.number('id')))
  const blockers: [TestUser, string[]][] = [
    [owner, [issue, comment, theirs]],
    [author, [issue, comment, theirs]],
    [commenter, [theirs]],
  ]
  for (const [blocker, blocked] of blockers) {
    await blocker.client.put(`/user/blocks/${pest.name}`)
    for (const place of blocked) expect([place, (await add(pest.client, place)).status]).toEqual([place, 403])
    await blocker.client.delete(`/user/blocks/${pest.name}`)
  }
  for (const place of [issue, comment, theirs]) expect((await add(pest.client, place)).status).toBe(201)
})

test('in a locked conversation only writers react', async () => {
  const made = await makePlaces()
  for (const place of made) await add(other.client, place)
  await service.context.sql`update issues set is_locked = true where number = ${Number(made[0]?.split('/').at(-2))}
    and repository_id = ${repo.id}`
  for (const place of made) {
    expect((await add(other.client, place, '+1')).status).toBe(403)
    expect((await remove(other.client, place)).status).toBe(403)
    expect((await add(owner.client, place)).status).toBe(201)
    expect(await listed(place)).toEqual([`${other.name} heart`, `${owner.name} heart`])
  }
})

test('nothing is told of what is not there or hidden, and an archived repository takes none', async () => {
  const secret = await service.createRepository(owner, { private: true })
  await owner.client.post(`${secret.path}/issues`, { title: 'secret' })
  const hidden = (await owner.client.post(`${secret.path}/issues/1/comments`, { body: 'text' })).number('id')
  const gone = [
    ...[`${repo.path}/issues/99`, `${repo.path}/issues/x`, `${repo.path}/issues/comments/99999`],
    ...[
      `${repo.path}/issues/comments/${hidden}`,
      `${secret.path}/issues/1`,
      `${secret.path}/issues/comments/${hidden}`,
    ],
  ]
  for (const place of gone) {
    const at = `${place}/reactions`
    const answers = [await other.client.get(at), await add(other.client, at), await remove(other.client, at)]
    expect([place, ...answers.map(({ status }) => status)]).toEqual([place, 404, 404, 404])
  }
  await owner.client.patch(secret.path, { private: false, archived: true })
  for (const at of [`${secret.path}/issues/1/reactions`, `${secret.path}/issues/comments/${hidden}/reactions`]) {
    expect((await add(other.client, at)).status).toBe(423)
    expect((await remove(owner.client, at)).status).toBe(423)
    expect(await listed(at)).toEqual([])
  }
  await owner.client.patch(secret.path, { archived: false })
  await owner.client.patch(secret.path, { has_issues: false })
  expect((await add(owner.client, `${secret.path}/issues/1/reactions`)).status).toBe(404)
})

test('a reaction goes with its comment, its issue and its person', async () => {
  const { sql } = service.context
  const count = async () => Number((await sql`select count(*) from reactions`)[0]?.count)
  const leaver = await service.createUser()
  const before = await count()
  const [issue = '', comment = ''] = await makePlaces()
  for (const place of [issue, comment]) for (const who of [leaver, owner]) await add(who.client, place)
  expect(await count()).toBe(before + 4)
  await service.admin.client.delete(`/admin/users/${leaver.name}`)
  expect(await count()).toBe(before + 2)
  await author.client.delete(comment.replace('/reactions', ''))
  expect(await count()).toBe(before + 1)
  await owner.client.delete(issue.replace('/reactions', ''))
  expect(await count()).toBe(before)
})

test('reacting to a comment and deleting it at once ends without a fault', async () => {
  for (let round = 0; round < 5; round += 1) {
    const [, comment = ''] = await makePlaces()
    const answers = await Promise.all([
      ...Array.from({ length: 5 }, () => add(other.client, comment)),
      author.client.delete(comment.replace('/reactions', '')),
      ...Array.from({ length: 5 }, () => add(owner.client, comment)),
    ])
    for (const { status } of answers) expect([200, 201, 204, 404]).toContain(status)
  }
})
