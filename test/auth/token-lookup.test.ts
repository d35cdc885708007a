import { afterAll, beforeAll, expect, test } from 'bun:test'
import { loadConfig } from '../../src/config.ts'
import { type Service, startService } from '../../src/service.ts'
import { createClient } from '../harness/client.ts'
import { startTestService, type TestService, type TestUser } from '../harness/service.ts'

/** Two replicas on one database. */
let service: TestService
let other: Service
const clock = { time: Date.now(), now: () => new Date(clock.time) }
beforeAll(async () => {
  service = await startTestService({ clock })
  const config = loadConfig({
    PORT: '0',
    DATA_DIR: `${service.folder}/data`,
    REPOSITORIES_DIR: `${service.folder}/data/repositories`,
    DATABASE_URL: service.databaseUrl,
    LOG_LEVEL: 'fatal',
  })
  other = await startService(config, { worksJobs: false, clock })
})
afterAll(async () => {
  await other.stop()
  await service.stop()
})

const at = (url: string, token: string) => createClient({ url, credential: { token } })
const both = (token: string, path = '/user') =>
  Promise.all([service.url, other.url].map(async (url) => (await at(url, token).get(path)).status))
const withPassword = (user: TestUser) => service.client({ basic: `${user.name}:${user.password}` })

async function mint(user: TestUser, option: object = {}): Promise<string> {
  const name = crypto.randomUUID()
  const made = await withPassword(user).post(`/users/${user.name}/tokens`, { name, scopes: ['all'], ...option })
  return made.string('sha1')
}

test('what an answer says was changed counts for the very next request, at every replica', async () => {
  for (let round = 0; round < 10; round++) {
    const user = await service.createUser()
    const token = await mint(user)
    expect(await both(token)).toEqual([200, 200])
    const client = at(other.url, token)
    expect((await user.client.patch('/user/settings', { full_name: `Round ${round}` })).status).toBe(200)
    expect((await client.get('/user')).string('full_name')).toBe(`Round ${round}`)
    const edit = { source_id: 0, login_name: user.name, prohibit_login: true }
    expect((await service.admin.client.patch(`/admin/users/${user.name}`, edit)).status).toBe(200)
    expect(await both(token)).toEqual([403, 403])
    await service.admin.client.patch(`/admin/users/${user.name}`, { ...edit, prohibit_login: false })
    expect(await both(token)).toEqual([200, 200])
    const [entry] = JSON.parse((await withPassword(user).get(`/users/${user.name}/tokens?limit=1`)).text)
    expect((await withPassword(user).delete(`/users/${user.name}/tokens/${entry.id}`)).status).toBe(204)
    expect(await both(token)).toEqual([401, 401])
  }
})

const changes: [string, (user: TestUser) => Promise<unknown>, number][] = [
  ['the account is deleted', (user) => service.admin.client.delete(`/admin/users/${user.name}`), 401],
  [
    'a password must be changed',
    (user) =>
      service.admin.client.patch(`/admin/users/${user.name}`, {
        source_id: 0,
        login_name: user.name,
        must_change_password: true,
      }),
    403,
  ],
  [
    'its row is deleted',
    (user) => service.context.sql`
      delete from access_tokens using users where users.id = user_id and users.name = ${user.name}`,
    401,
  ],
  [
    'its row ends',
    (user) => service.context.sql`
      update access_tokens set expires_at = ${clock.now()} from users where users.id = user_id and users.name = ${user.name}`,
    401,
  ],
]

test.each(changes)('every replica refuses a token at once when %s', async (_, change, status) => {
  const user = await service.createUser()
  expect(await both(user.token)).toEqual([200, 200])
  await change(user)
  expect(await both(user.token)).toEqual([status, status])
})

test('a repository that goes takes nothing else from a token that had chosen it', async () => {
  const user = await service.createUser()
  const [kept, going, hidden] = await Promise.all(
    [1, 2, 3].map(() => service.createRepository(user, { private: true })),
  )
  if (!kept || !going || !hidden) throw new Error('three were made')
  const repositories = [kept, going].map(({ owner, name }) => ({ owner, name }))
  const token = await mint(user, { repositories })
  expect(await both(token, kept.path)).toEqual([200, 200])
  expect(await both(token, hidden.path)).toEqual([404, 404])
  expect((await user.client.delete(going.path)).status).toBe(204)
  expect(await both(token, kept.path)).toEqual([200, 200])
  expect((await user.client.delete(kept.path)).status).toBe(204)
  // The last one that it had chosen is gone: it reaches none, rather than all.
  expect(await both(token, hidden.path)).toEqual([404, 404])
})

test('the last use of a token is written once a minute, however many use it at once', async () => {
  const user = await service.createUser()
  const lastUse = async () => {
    const [row] = await service.context.sql`
      select last_used_at, access_tokens.xmin::text from access_tokens join users on users.id = user_id where users.name = ${user.name}`
    return row
  }
  await Promise.all(Array.from({ length: 10 }, () => both(user.token)))
  const first = await lastUse()
  expect(first?.last_used_at).toEqual(clock.now())
  clock.time += 30_000
  await both(user.token)
  expect(await lastUse()).toEqual(first)
  clock.time += 30_000
  await both(user.token)
  expect((await lastUse())?.last_used_at).toEqual(clock.now())
})
