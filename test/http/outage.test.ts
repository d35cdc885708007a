import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Replica, startReplica } from '../features/transport/replica.ts'
import { type Cable, layCableToDatabase } from '../harness/cable.ts'
import { type Client, createClient } from '../harness/client.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'
import { until } from '../harness/until.ts'

/** A server whose database is at the end of a cable that can be cut, and another one beside it that sees what is there. */
let service: TestService
let cable: Cable
let replica: Replica
let owner: TestUser
let client: Client
let visitor: Client
let repository: TestRepository
beforeAll(async () => {
  service = await startTestService()
  owner = await service.createUser()
  repository = await service.createRepository(owner)
  const way = await layCableToDatabase(service.databaseUrl)
  cable = way.cable
  replica = await startReplica(service, { DATABASE_URL: way.url, DATABASE_POOL_SIZE: '4', LOG_LEVEL: 'info' })
  client = createClient({ url: replica.url, credential: { token: owner.token } })
  visitor = createClient({ url: replica.url })
})
afterAll(async () => {
  cable.reconnect()
  await replica.stop()
  await cable.close()
  await service.stop()
})

const issue = (title: string) => client.post(`${repository.path}/issues`, { title })
const isServed = async () => (await issue('again')).status === 201

test('without its database the service says so everywhere, and goes on when it is back', async () => {
  cable.cut()
  const asked = [
    client.get(repository.path),
    visitor.get(repository.path),
    createClient({ url: replica.url, credential: { basic: `${owner.name}:${owner.password}` } }).get('/user'),
    issue('lost'),
    client.post('/user/repos', { name: 'half', auto_init: true }),
    client.get(`${repository.path}/raw/README.md`),
    visitor.request('/api/healthz'),
  ]
  for (const [index, answer] of (await Promise.all(asked)).entries())
    expect([index, answer.status]).toEqual([index, 503])
  const refused = await issue('lost')
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  const clone = await fetch(`${replica.url}/${owner.name}/${repository.name}.git/info/refs?service=git-upload-pack`)
  expect([clone.status, clone.headers.has('retry-after')]).toEqual([503, true])
  expect((await visitor.get('/version')).status).toBe(200)
  cable.reconnect()
  const since = performance.now()
  await until(isServed, 'the service is back')
  expect(performance.now() - since).toBeLessThan(5000)
  // Nothing of what was refused is there.
  expect((await client.get(`${repository.path}/issues`)).text).not.toContain('"lost"')
  expect((await client.get(`/repos/${owner.name}/half`)).status).toBe(404)
  expect((await client.post('/user/repos', { name: 'half', auto_init: true })).status).toBe(201)
})

test('the probe reports a database that falls silent in time', async () => {
  expect((await visitor.request('/api/healthz')).status).toBe(200)
  cable.mute()
  const since = performance.now()
  const { status, body } = await visitor.request('/api/healthz')
  cable.reconnect()
  expect([status, body]).toMatchObject([503, { checks: { 'database:ping': [{ status: 'fail' }] } }])
  // A probe of a container waits five seconds, the driver until the statement's own time is over.
  expect(performance.now() - since).toBeLessThan(5000)
  cable.cut()
  cable.reconnect()
  await until(isServed, 'the service is back')
})

test('connections cut in the middle of anything: what was answered is there, all else is 503, nothing is half', async () => {
  const answered: string[] = []
  let isOver = false
  const statuses = new Set<number>()
  const writers = Array.from({ length: 4 }, async (_, writer) => {
    for (let round = 0; !isOver; round += 1) {
      const title = `w${writer}r${round}`
      const made =
        round % 4 === 0 ? await client.post('/user/repos', { name: title, auto_init: true }) : await issue(title)
      statuses.add(made.status)
      if (made.status === 201) answered.push(round % 4 === 0 ? `repository ${title}` : title)
    }
  })
  for (let cuts = 0; cuts < 25; cuts += 1) {
    const before = answered.length
    await until(() => answered.length > before + 2, 'writes are answered')
    cable.cutAfter(1 + Math.floor(Math.random() * 3000))
  }
  isOver = true
  await Promise.all(writers)
  cable.cutAfter(Number.POSITIVE_INFINITY)
  expect([...statuses].filter((status) => ![201, 503, 409].includes(status))).toEqual([])
  const { sql } = service.context
  await until(isServed, 'the service is back')
  const titles = new Set((await sql`select title from issues`).map(({ title }) => String(title)))
  const made = new Set((await sql`select name from repositories`).map(({ name }) => `repository ${name}`))
  expect(answered.filter((one) => !titles.has(one) && !made.has(one))).toEqual([])
  for (const { id, name } of await sql<{ id: number; name: string }[]>`select id, name from repositories`)
    expect([name, (await service.context.git.fsck(id)).isSound]).toEqual([name, true])
  const [numbers] = await sql`select count(*)::int as count, max(number)::int as highest from issues`
  expect(numbers?.count).toBe(numbers?.highest)
}, 120_000)
