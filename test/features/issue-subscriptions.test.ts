import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'

let service: TestService
let owner: TestUser
let author: TestUser
let other: TestUser
let repo: TestRepository
let path: string
beforeAll(async () => {
  service = await startTestService()
  owner = await service.createUser()
  author = await service.createUser()
  other = await service.createUser()
  repo = await service.createRepository(owner)
  await author.client.post(`${repo.path}/issues`, { title: 'first' })
  path = `${repo.path}/issues/1/subscriptions`
})
afterAll(() => service.stop())

const check = async (who: TestUser) => {
  const { status, body } = await who.client.get(`${path}/check`)
  expect(status).toBe(200)
  return body
}
const subscribers = async (who = service.anonymous) => {
  const { body, headers } = await who.get(path)
  const names = Array.isArray(body) ? body.map(({ login }) => login) : []
  expect(headers.get('x-total-count')).toBe(String(names.length))
  return names
}

test('who watches or takes part is told unasked, others when they ask', async () => {
  const issue = await author.client.get(`${repo.path}/issues/1`)
  const url = `${service.context.baseUrl}/api/v1${repo.path}`
  for (const who of [owner, author])
    expect(await check(who)).toEqual({
      subscribed: true,
      ignored: false,
      reason: null,
      created_at: issue.string('created_at'),
      url: `${url}/issues/1/subscriptions`,
      repository_url: url,
    })
  expect(await check(other)).toMatchObject({ subscribed: false, ignored: true })
  expect(await subscribers()).toEqual([])
  const put = () => other.client.put(`${path}/${other.name.toUpperCase()}`)
  expect([(await put()).status, (await put()).status]).toEqual([201, 200])
  expect(await check(other)).toMatchObject({ subscribed: true, ignored: false })
  expect(await subscribers()).toEqual([other.name])
  const remove = (who: TestUser) => who.client.delete(`${path}/${who.name}`)
  expect([(await remove(other)).status, (await remove(other)).status]).toEqual([201, 200])
  expect([(await remove(author)).status, (await remove(author)).status]).toEqual([201, 200])
  expect(await check(author)).toMatchObject({ subscribed: false, ignored: true })
  expect(await subscribers()).toEqual([])
  expect((await author.client.put(`${path}/${author.name}`)).status).toBe(201)
})

test('nobody decides for others but administrators of the site', async () => {
  expect((await owner.client.put(`${path}/${other.name}`)).status).toBe(403)
  expect((await owner.client.delete(`${path}/${author.name}`)).status).toBe(403)
  const { client } = service.admin
  expect((await client.put(`${path}/${other.name}`)).status).toBe(201)
  expect((await client.delete(`${path}/${other.name}`)).status).toBe(201)
  for (const name of ['nobody', 'an-org']) expect((await client.put(`${path}/${name}`)).status).toBe(404)
  expect((await service.anonymous.put(`${path}/${other.name}`)).status).toBe(401)
  expect((await service.anonymous.get(`${path}/check`)).status).toBe(401)
})

test('a hidden person is as one who does not exist, and not listed', async () => {
  const hidden = await service.createUser()
  await hidden.client.put(`${path}/${hidden.name}`)
  await service.admin.client.patch(`/admin/users/${hidden.name}`, { login_name: hidden.name, visibility: 'private' })
  const answers = [await other.client.put(`${path}/${hidden.name}`), await other.client.put(`${path}/nobody`)]
  const [one, two] = answers.map(({ status, text }) => `${status} ${text.replace(/"request_id":"[^"]+"/, '')}`)
  expect(one).toStartWith('404 ')
  expect(one).toBe(two ?? '')
  expect(await subscribers(other.client)).not.toContain(hidden.name)
  expect(await subscribers(service.admin.client)).toContain(hidden.name)
})

test('there is none for an issue that is not there, or that one may not see', async () => {
  const secret = await service.createRepository(owner, { private: true })
  await owner.client.post(`${secret.path}/issues`, { title: 'secret' })
  for (const place of [`${repo.path}/issues/99`, `${repo.path}/issues/x`, `${secret.path}/issues/1`]) {
    const asked = [
      await other.client.get(`${place}/subscriptions`),
      await other.client.get(`${place}/subscriptions/check`),
      await other.client.put(`${place}/subscriptions/${other.name}`),
      await other.client.delete(`${place}/subscriptions/${other.name}`),
    ]
    expect([place, ...asked.map(({ status }) => status)]).toEqual([place, 404, 404, 404, 404])
  }
  await owner.client.patch(secret.path, { has_issues: false })
  expect((await owner.client.get(`${secret.path}/issues/1/subscriptions/check`)).status).toBe(404)
})

test('the list has pages; an archived repository is no hindrance', async () => {
  const people = [await service.createUser(), await service.createUser(), await service.createUser()]
  await owner.client.post(`${repo.path}/issues`, { title: 'second' })
  await owner.client.patch(repo.path, { archived: true })
  const list = `${repo.path}/issues/2/subscriptions`
  for (const who of people) expect((await who.client.put(`${list}/${who.name}`)).status).toBe(201)
  const page = await service.anonymous.get(list, { limit: 2, page: 2 })
  expect(page.headers.get('x-total-count')).toBe('3')
  expect(page.body).toMatchObject([{ login: people[2]?.name }])
})
