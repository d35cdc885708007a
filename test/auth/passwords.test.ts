import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { hash } from '@node-rs/argon2'
import { FULL_COST } from '../../src/auth/password.ts'
import { startTestService, type TestService } from '../harness/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService({ hashCost: FULL_COST })
})
afterAll(() => service.stop())

const basic = (name: string, password: string) => service.client({ basic: `${name}:${password}` })

test('a changed password is refused at once, also where the old one was right a moment ago', async () => {
  const user = await service.createUser()
  expect((await basic(user.name, user.password).get('/user')).status).toBe(200)
  const change = { login_name: user.name, password: 'another long one', must_change_password: false }
  expect((await service.admin.client.patch(`/admin/users/${user.name}`, change)).status).toBe(200)
  expect((await basic(user.name, user.password).get('/user')).status).toBe(401)
  expect((await basic(user.name, 'another long one').get('/user')).status).toBe(200)
})

test('a hash with weaker parameters is made anew at the next sign-in', async () => {
  const user = await service.createUser()
  const weak = await hash(user.password, { algorithm: 2, memoryCost: 8192, timeCost: 1, parallelism: 1 })
  await service.context.sql`update users set password_hash = ${weak} where name = ${user.name}`
  expect((await basic(user.name, user.password).get('/user')).status).toBe(200)
  const [row] = await service.context.sql`select password_hash from users where name = ${user.name}`
  expect(String(row?.password_hash)).toStartWith('$argon2id$v=19$m=19456,t=2,p=1$')
  expect((await basic(user.name, user.password).get('/user')).status).toBe(200)
})

test.if(process.platform === 'linux')('hashing yields to everything else', async () => {
  const user = await service.createUser()
  expect((await basic(user.name, user.password).get('/user')).status).toBe(200)
  // proc_pid_stat(5): the nineteenth value is the niceness; the second, a name in parentheses, may hold spaces.
  const niceness = readdirSync('/proc/self/task').map((thread) => {
    const [, values = ''] = /\) (.*)/.exec(readFileSync(`/proc/self/task/${thread}/stat`, 'utf8')) ?? []
    return Number(values.split(' ')[16])
  })
  // More where the tests themselves were started with less priority.
  expect(Math.max(...niceness)).toBeGreaterThanOrEqual(15)
})

test.if(process.platform === 'linux')('a program that was started with less priority hashes with that', async () => {
  const place = resolve(import.meta.dir, '../../src/auth/password.ts')
  const code = `
    import { readdirSync, readFileSync } from 'node:fs'
    import { createPasswords } from ${JSON.stringify(place)}
    await createPasswords({ parallelism: 1, queueLength: 1 }).hash('a password')
    const stat = (thread) => readFileSync('/proc/self/task/' + thread + '/stat', 'utf8')
    console.log(Math.min(...readdirSync('/proc/self/task').map((thread) => Number(stat(thread).split(') ')[1].split(' ')[16]))))
    process.exit()`
  const child = Bun.spawn(['nice', '-n', '19', process.execPath, '-e', code], { stdout: 'pipe', stderr: 'inherit' })
  // To 15 would be up, which only root may: the thread of everybody else failed, and nobody could sign in.
  expect((await new Response(child.stdout).text()).trim()).toBe('19')
})

test('a password that everybody tries first is refused, and a long one of any letters is taken', async () => {
  const account = (name: string, password: string) =>
    service.admin.client.post('/admin/users', { username: name, email: `${name}@example.com`, password })
  expect((await account('common', 'Password123')).status).toBe(400)
  expect((await account('letters', 'wirklich langes passwort')).status).toBe(201)
  expect((await account('unicode', 'пароль 🔥 длинный')).status).toBe(201)
})

test('a password of more than 1,024 bytes is refused before it is hashed', async () => {
  // One hash at a time and none that waits: whatever hashes is sent away while another is at it.
  const settings = { PASSWORD_HASH_PARALLELISM: '1', PASSWORD_HASH_QUEUE: '1', MAX_HEADER_BYTES: '2MiB' }
  const narrow = await startTestService({ settings, hashCost: FULL_COST })
  const statuses = (password: (turn: number) => string) =>
    Promise.all(
      Array.from({ length: 30 }, async (_, turn) => {
        const client = narrow.client({ basic: `nobody${turn}:${password(turn)}` })
        return (await client.get('/user')).status
      }),
    )
  expect(await statuses((turn) => `${turn}`.repeat(400))).toContain(503)
  for (const bytes of [1025, 10_000, 1_000_000]) {
    const answers = new Set(await statuses((turn) => `${turn}`.padEnd(bytes, 'x')))
    expect([bytes, ...answers]).toEqual([bytes, 401])
    await narrow.context.sql`delete from login_failures`
  }
  const option = { username: 'long', email: 'long@example.com', password: 'x'.repeat(1_000_000) }
  expect((await narrow.admin.client.post('/admin/users', option)).status).toBe(422)
  await narrow.stop()
})

test('a name takes as long as any other with a wrong password, whoever it belongs to', async () => {
  const make = async (change: object = {}) => {
    const { name } = await service.createUser()
    await service.admin.client.patch(`/admin/users/${name}`, { login_name: name, ...change })
    return name
  }
  const known = await make()
  await service.admin.client.post('/orgs', { username: 'an-organization' })
  const names = {
    known,
    unknown: 'nobody-at-all',
    inactive: await make({ active: false }),
    prohibited: await make({ prohibit_login: true }),
    organization: 'an-organization',
    address: `${known}@localhost.localdomain`,
    'unknown address': 'nobody-at-all@localhost.localdomain',
    NUL: 'nobody\0',
  }
  // In turn, and the quickest of each: whatever else the machine does only makes one slower, so that more turns are fairer.
  const quickest = new Map<string, number>()
  const answers = new Set<string>()
  // Without the hash for nobody an unknown one is five times quicker.
  const different = () => {
    const usual = quickest.get('known') ?? 0
    return [...quickest].filter(([, ms]) => ms < usual * 0.6 || ms > usual * 1.6)
  }
  for (let turn = 0; turn < 8 || (turn < 60 && different().length > 0); turn += 1)
    for (const [kind, name] of Object.entries(names)) {
      const start = performance.now()
      const { status, text } = await basic(name, `wrong ${turn}`).get('/version')
      quickest.set(kind, Math.min(quickest.get(kind) ?? Number.POSITIVE_INFINITY, performance.now() - start))
      answers.add(`${status} ${text.replace(/"request_id":"[^"]+"/, '')}`)
      await service.context.sql`delete from login_failures`
    }
  expect(answers.size).toBe(1)
  expect(different()).toEqual([])
}, 180_000)

test('what the account may do is judged after the password', async () => {
  const user = await service.createUser()
  const edit = (change: object) =>
    service.admin.client.patch(`/admin/users/${user.name}`, { login_name: user.name, ...change })
  const both = async () => [
    (await user.client.get('/user')).status,
    (await basic(user.name, user.password).get('/user')).status,
  ]
  await edit({ prohibit_login: true })
  expect(await both()).toEqual([403, 401])
  await edit({ prohibit_login: false, active: false })
  expect(await both()).toEqual([403, 403])
  await edit({ active: true, must_change_password: true })
  expect(await both()).toEqual([403, 403])
  expect((await basic(user.name, 'wrong').get('/user')).status).toBe(401)
})

test('an account that must change its password does so over the API, and nothing else before', async () => {
  const account = { username: 'newcomer', email: 'newcomer@example.com', password: 'given by somebody' }
  expect((await service.admin.client.post('/admin/users', account)).status).toBe(201)
  const given = basic('newcomer', account.password)
  expect((await given.get('/user')).status).toBe(403)
  expect((await given.put('/user/password', { new_password: account.password })).status).toBe(422)
  expect((await given.put('/user/password', { new_password: 'short' })).status).toBe(400)
  expect((await given.put('/user/password', { new_password: 'chosen by myself' })).status).toBe(204)
  expect((await given.get('/user')).status).toBe(401)
  expect((await basic('newcomer', 'chosen by myself').get('/user')).status).toBe(200)
})

test('no token and no administrator in the name of another changes a password this way', async () => {
  const user = await service.createUser()
  const option = { new_password: 'another long one' }
  expect((await user.client.put('/user/password', option)).status).toBe(401)
  expect((await service.anonymous.put('/user/password', option)).status).toBe(401)
  const admin = basic(service.admin.name, service.admin.password)
  const path = `/user/password?sudo=${user.name}`
  expect((await admin.request(path, { method: 'PUT', json: option })).status).toBe(403)
  expect((await basic(user.name, user.password).get('/user')).status).toBe(200)
})

test('200 password checks at once leave the service answering', async () => {
  const before = process.memoryUsage().rss
  const checks = Array.from({ length: 200 }, (_, turn) => basic(`nobody${turn}`, 'wrong').get('/user'))
  const waits: number[] = []
  for (let turn = 0; turn < 20; turn += 1) {
    const start = performance.now()
    expect((await service.anonymous.get('/version')).status).toBe(200)
    waits.push(performance.now() - start)
  }
  const statuses = new Set((await Promise.all(checks)).map(({ status }) => status))
  for (const status of statuses) expect([401, 429, 503]).toContain(status)
  expect(statuses.has(503)).toBe(true)
  expect(process.memoryUsage().rss - before).toBeLessThan(300 * 1024 ** 2)
  expect(Math.max(...waits)).toBeLessThan(2000)
  await service.context.sql`delete from login_failures`
})

test('a name or password with NUL or bytes that are no text is wrong, not a fault', async () => {
  for (const pair of [
    'a\0b:c',
    'a:b\0c',
    `${service.admin.name}\0:${service.admin.password}`,
    '\xff\xfe:\xff',
    ':',
    'x'.repeat(8000),
  ]) {
    const headers = { authorization: `Basic ${Buffer.from(pair, 'latin1').toString('base64')}` }
    expect([pair, (await service.anonymous.request('/user', { headers })).status]).toEqual([pair, 401])
  }
  expect((await service.admin.client.get('/user', { sudo: 'a\0b' })).status).toBe(404)
})
