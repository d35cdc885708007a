import { afterAll, beforeAll, expect, test } from 'bun:test'
import { loadConfig } from '../../src/config.ts'
import { sha256Hex } from '../../src/kernel/hashing.ts'
import { type Service, startService } from '../../src/service.ts'
import { createClient } from '../harness/client.ts'
import { startTestService, type TestService, type TestUser } from '../harness/service.ts'
import { until } from '../harness/until.ts'

/** Two replicas on one database. */
let service: TestService
let other: Service
beforeAll(async () => {
  service = await startTestService()
  const config = loadConfig({
    PORT: '0',
    DATA_DIR: `${service.folder}/other`,
    REPOSITORIES_DIR: `${service.folder}/data/repositories`,
    DATABASE_URL: service.databaseUrl,
    LOG_LEVEL: 'fatal',
  })
  other = await startService(config, { worksJobs: false })
  await isKept(service.admin.token)
}, 30_000)
afterAll(async () => {
  await other.stop()
  await service.stop()
})

const contexts = () => [service.context, other.context]
const at = (url: string, token: string) => createClient({ url, credential: { token } })

/** Uses the token at both until both keep it: a replica keeps nothing before it hears for certain. */
async function isKept(token: string): Promise<void> {
  for (const [index, url] of [service.url, other.url].entries())
    await until(async () => {
      expect((await at(url, token).get('/user')).status).toBe(200)
      return contexts()[index]?.recognized.get(sha256Hex(token)) !== undefined
    }, 'a token is kept')
}

async function mint(user: TestUser, option: object = {}): Promise<string> {
  const basic = service.client({ basic: `${user.name}:${user.password}` })
  const name = crypto.randomUUID()
  return (await basic.post(`/users/${user.name}/tokens`, { name, scopes: ['all'], ...option })).string('sha1')
}

test('a token that is kept is not looked up', async () => {
  const user = await service.createUser()
  await isKept(user.token)
  // Behind the back of the triggers.
  await service.context.sql.begin(async (sql) => {
    await sql`set local session_replication_role = replica`
    await sql`update access_tokens set token_hash = md5(token_hash) where token_hash = ${sha256Hex(user.token)}`
  })
  expect((await user.client.get('/user')).status).toBe(200)
})

test('what an answer says was changed counts for the very next request, whatever was kept', async () => {
  for (let round = 0; round < 20; round++) {
    const user = await service.createUser()
    const token = await mint(user)
    await isKept(token)
    const client = at(service.url, token)
    expect((await client.patch('/user/settings', { full_name: `Round ${round}` })).status).toBe(200)
    expect((await client.get('/user')).string('full_name')).toBe(`Round ${round}`)
    await isKept(token)
    const edit = { source_id: 0, login_name: user.name, prohibit_login: true }
    expect((await service.admin.client.patch(`/admin/users/${user.name}`, edit)).status).toBe(200)
    expect((await client.get('/user')).status).toBe(403)
    await service.admin.client.patch(`/admin/users/${user.name}`, { ...edit, prohibit_login: false })
    await isKept(token)
    const basic = service.client({ basic: `${user.name}:${user.password}` })
    const [entry] = JSON.parse((await basic.get(`/users/${user.name}/tokens?limit=1`)).text)
    expect((await basic.delete(`/users/${user.name}/tokens/${entry.id}`)).status).toBe(204)
    expect((await client.get('/user')).status).toBe(401)
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
  ['its hash is another', () => service.context.sql`update access_tokens set token_hash = md5(token_hash)`, 401],
  ['it ends', () => service.context.sql`update access_tokens set expires_at = now()`, 401],
  ['it is gone', () => service.context.sql`delete from access_tokens where name <> 'root'`, 401],
]

for (const [what, change, status] of changes)
  test(`another replica refuses a token at once when ${what}`, async () => {
    const user = await service.createUser()
    await isKept(user.token)
    await change(user)
    await other.context.recognized.settle()
    expect((await at(other.url, user.token).get('/user')).status).toBe(status)
    // The changes without the API reach all tokens.
    service.admin.token = await mint(service.admin)
    service.admin.client = service.client({ token: service.admin.token })
  })

test('the repositories of a token are known anew when one goes', async () => {
  const user = await service.createUser()
  const kept = await service.createRepository(user, { private: true })
  const going = await service.createRepository(user, { private: true })
  const repositories = [kept, going].map(({ owner, name }) => ({ owner, name }))
  const token = await mint(user, { repositories })
  await isKept(token)
  const hash = sha256Hex(token)
  expect(other.context.recognized.get(hash)?.repositoryIds?.toSorted()).toEqual([kept.id, going.id].toSorted())
  expect((await user.client.delete(going.path)).status).toBe(204)
  await other.context.recognized.settle()
  expect(other.context.recognized.get(hash)).toBeUndefined()
})

test('nothing is kept while changes cannot be heard of', async () => {
  const user = await service.createUser()
  await isKept(user.token)
  const { sql } = service.context
  await sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name = 'hearth listener'`
  const hash = sha256Hex(user.token)
  for (const { recognized } of contexts()) await until(() => recognized.get(hash) === undefined, 'nothing is kept')
  await sql`update users set prohibit_login = true where name = ${user.name}`
  for (const url of [service.url, other.url]) expect((await at(url, user.token).get('/user')).status).toBe(403)
  await sql`update users set prohibit_login = false where name = ${user.name}`
  // A new connection takes its place at the next beat.
  await isKept(user.token)
})
