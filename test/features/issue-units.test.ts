import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'

/** Pull requests share the routes of issues: which unit guards one is decided by what it is. */
let service: TestService
let owner: TestUser
let repo: TestRepository
/** Read on one unit each, by a team. */
let issueReader: TestUser
let pullReader: TestUser
let comments: { issue: number; pull: number }
beforeAll(async () => {
  service = await startTestService()
  owner = await service.createUser()
  issueReader = await service.createUser()
  pullReader = await service.createUser()
  const org = 'guild'
  await owner.client.post('/orgs', { username: org, visibility: 'private' })
  const made = await owner.client.post(`/orgs/${org}/repos`, { name: 'shared', private: true, auto_init: true })
  repo = { id: made.number('id'), owner: org, name: 'shared', path: `/repos/${org}/shared`, cloneUrl: '' }
  for (const [user, unit] of [
    [issueReader, 'repo.issues'],
    [pullReader, 'repo.pulls'],
  ] as const) {
    const option = { name: unit, permission: 'none', units_map: { [unit]: 'read' } }
    const team = (await owner.client.post(`/orgs/${org}/teams`, option)).number('id')
    await owner.client.put(`/teams/${team}/repos/${org}/shared`)
    await owner.client.put(`/teams/${team}/members/${user.name}`)
  }
  await owner.client.post(`${repo.path}/issues`, { title: 'an issue' })
  await owner.client.post(`${repo.path}/issues`, { title: 'a pull request' })
  await service.context.sql`update issues set is_pull = true where repository_id = ${repo.id} and number = 2`
  comments = {
    issue: (await owner.client.post(`${repo.path}/issues/1/comments`, { body: 'on the issue' })).number('id'),
    pull: (await owner.client.post(`${repo.path}/issues/2/comments`, { body: 'on the pull' })).number('id'),
  }
})
afterAll(() => service.stop())

const paths = (number: 1 | 2) => [
  `/issues/${number}`,
  `/issues/${number}/comments`,
  `/issues/${number}/subscriptions`,
  `/issues/${number}/subscriptions/check`,
  `/issues/comments/${number === 1 ? comments.issue : comments.pull}`,
]

test('who may read one kind reads what hangs on it, and nothing of the other', async () => {
  for (const [user, own, other] of [
    [issueReader, 1, 2],
    [pullReader, 2, 1],
  ] as const) {
    for (const path of paths(own)) expect([path, (await user.client.get(repo.path + path)).status]).toEqual([path, 200])
    for (const path of paths(other))
      expect([path, (await user.client.get(repo.path + path)).status]).toEqual([path, 404])
  }
})

test('lists leave out the kind that the reader may not read', async () => {
  const list = async (user: TestUser, path: string) => (await user.client.get(repo.path + path)).body
  expect(await list(issueReader, '/issues')).toMatchObject([{ number: 1 }])
  expect(await list(pullReader, '/issues?type=pulls')).toMatchObject([{ number: 2 }])
  expect((await pullReader.client.get(`${repo.path}/issues`)).status).toBe(404)
  expect(await list(owner, '/issues')).toMatchObject([{ number: 2 }, { number: 1 }])
  expect((await issueReader.client.get(`${repo.path}/issues?type=pulls`)).status).toBe(404)
  expect(await list(issueReader, '/issues/comments')).toMatchObject([{ body: 'on the issue' }])
  expect((await pullReader.client.get(`${repo.path}/issues/comments`)).status).toBe(404)
})

test('whoever reads one kind comments on it and subscribes to it, and does neither with the other', async () => {
  for (const [user, own, other] of [
    [issueReader, 1, 2],
    [pullReader, 2, 1],
  ] as const) {
    const { name, client } = user
    expect((await client.post(`${repo.path}/issues/${own}/comments`, { body: 'mine' })).status).toBe(201)
    expect((await client.post(`${repo.path}/issues/${other}/comments`, { body: 'mine' })).status).toBe(404)
    expect((await client.put(`${repo.path}/issues/${own}/subscriptions/${name}`)).status).toBe(200)
    expect((await client.put(`${repo.path}/issues/${other}/subscriptions/${name}`)).status).toBe(404)
    expect((await client.patch(`${repo.path}/issues/${own}`, { title: 'taken' })).status).toBe(403)
    expect((await client.patch(`${repo.path}/issues/${other}`, { title: 'taken' })).status).toBe(404)
    expect((await client.delete(`${repo.path}/issues/${own}`)).status).toBe(403)
  }
})

test('an unknown number is not found, and without the level it is forbidden before', async () => {
  expect((await owner.client.get(`${repo.path}/issues/99`)).status).toBe(404)
  expect((await owner.client.delete(`${repo.path}/issues/x`)).status).toBe(404)
  expect((await issueReader.client.delete(`${repo.path}/issues/99`)).status).toBe(403)
  expect((await service.anonymous.get(`${repo.path}/issues/1`)).status).toBe(404)
  expect((await service.anonymous.post(`${repo.path}/issues/1/comments`, { body: 'x' })).status).toBe(401)
})
