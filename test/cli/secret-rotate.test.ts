import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TOTP } from 'otpauth'
import { type Database, openDatabase } from '../../db/client.ts'
import { createSecrets } from '../../src/auth/secrets.ts'
import { countSealed } from '../../src/secret-key/sealed-values.ts'
import { compiledProgram } from '../../src/setup/compiled-program.ts'
import { type Client, createClient } from '../harness/client.ts'
import { createBareDatabase, type TestDatabase } from '../harness/database.ts'
import { type RunningProgram, runProgram, serveProgram } from '../harness/program.ts'
import { until } from '../harness/until.ts'

const A = 'the first key, of more than 32 characters'
const B = 'the second key, of more than 32 characters'
const C = 'a key that was never this one, as long as others'
const onlyA = { SECRET_KEY: A }
const readyForB = { SECRET_KEY: A, SECRET_KEY_PREVIOUS: B }
const sealsWithB = { SECRET_KEY: B, SECRET_KEY_PREVIOUS: A }
const onlyB = { SECRET_KEY: B }
const PASSWORD = 'correct horse battery'
type Keys = Record<string, string>

let folder: string
let database: TestDatabase
let open: Database
const servers = new Map<string, RunningProgram>()

const settingsOf = (name: string, keys: Keys) => ({
  DATABASE_URL: database.url,
  DATABASE_POOL_SIZE: '4',
  DATA_DIR: join(folder, name),
  REPOSITORIES_DIR: join(folder, 'repositories'),
  ADMIN_USERNAME: 'ann',
  ADMIN_PASSWORD: PASSWORD,
  LOG_LEVEL: 'info',
  ...keys,
})
const run = (words: string, keys: Keys) =>
  runProgram(words.split(' '), { ...settingsOf('command', keys), LOG_LEVEL: 'warn' })
const rotate = (keys: Keys) => run('secret rotate', keys)
const doctor = async (keys: Keys) => /^.*Secret key: .*$/m.exec((await run('doctor', keys)).stdout)?.[0] ?? ''

/** Starts a server, in place of the one of this name. */
async function serve(name: string, keys: Keys): Promise<Client> {
  await stop(name)
  const server = await serveProgram(settingsOf(name, keys))
  servers.set(name, server)
  return createClient({ url: server.url, credential: { basic: `ann:${PASSWORD}` } })
}
async function stop(name: string): Promise<void> {
  const server = servers.get(name)
  server?.kill('SIGTERM')
  await server?.exited
  servers.delete(name)
}

let hooksMade = 0
async function makeHook(client: Client): Promise<void> {
  hooksMade += 1
  const made = await client.post('/admin/hooks', {
    type: 'gitea',
    config: { url: `https://example.com/?key=${hooksMade}`, content_type: 'json', secret: `secret ${hooksMade}` },
    authorization_header: `Bearer ${hooksMade}`,
    events: ['push'],
  })
  expect(made.status).toBe(201)
}

/** The headers of all hooks, opened by a server. */
async function headers(client: Client): Promise<string[]> {
  const listed = await client.get('/admin/hooks', { limit: 50, type: 'all' })
  const hooks: unknown = listed.body
  if (!Array.isArray(hooks)) throw new Error(listed.text)
  return hooks.map((_, index) => listed.string(`${index}.authorization_header`)).sort()
}
const expectedHeaders = () => Array.from({ length: hooksMade }, (_, index) => `Bearer ${index + 1}`).sort()

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hearth-rotate-'))
  database = await createBareDatabase()
  open = openDatabase(database.url, { poolSize: 4 })
})
afterAll(async () => {
  for (const name of servers.keys()) await stop(name)
  await open.close()
  await database.drop()
  rmSync(folder, { recursive: true, force: true })
})

/** Waits until another connection waits for a lock of this type. */
const untilWaiting = (type: 'transactionid' | 'relation') =>
  until(async () => {
    const found = await open.sql`
      select 1 from pg_locks join pg_stat_activity using (pid)
      where datname = current_database() and not granted and locktype = ${type}`
    return found.length > 0
  }, `somebody waits for a lock (${type})`)

let enrolled: TOTP
/** Made, and sealed, by the first who asks for it. */
let keysBefore: unknown
const signingKeys = async (name: string): Promise<unknown> =>
  (await fetch(`${servers.get(name)?.url}/login/oauth/keys`)).json()

test('two replicas get the new key by turns; each opens what the other has sealed, and both keys start', async () => {
  const [one, two] = [await serve('one', onlyA), await serve('two', onlyA)]
  await makeHook(one)
  enrolled = new TOTP({ secret: (await two.post('/user/two_factor')).string('secret') })
  expect((await one.put('/user/actions/secrets/WORD', { data: 'hidden' })).status).toBe(201)
  keysBefore = await signingKeys('one')

  await makeHook(await serve('one', readyForB))
  expect(await headers(await serve('two', readyForB))).toEqual(expectedHeaders())
  const swapped = await serve('one', sealsWithB)
  await makeHook(swapped)
  const waiting = createClient({ url: servers.get('two')?.url ?? '', credential: { basic: `ann:${PASSWORD}` } })
  await makeHook(waiting)
  expect(await headers(swapped)).toEqual(expectedHeaders())
  expect(await headers(waiting)).toEqual(expectedHeaders())

  const early = await rotate(sealsWithB)
  expect([early.exitCode, early.stdout]).toEqual([1, ''])
  expect(early.stderr).toStartWith(
    '1 server works on this database with another key than the one in SECRET_KEY. Restart',
  )
})

test('the wrong keys are refused, and none is shown', async () => {
  for (const [keys, message] of [
    [{ SECRET_KEY: B, SECRET_KEY_PREVIOUS: C }, 'and so is the one in SECRET_KEY_PREVIOUS'],
    [onlyB, 'is another one than this database was set up with.'],
    [onlyA, 'SECRET_KEY_PREVIOUS is not set'],
  ] as const) {
    const { exitCode, stderr, stdout } = await rotate(keys)
    expect([exitCode, stdout]).toEqual([78, ''])
    expect(stderr).toContain(message)
    expect(stderr).not.toMatch(/the (first|second) key, of|never this one/)
  }
  const adopt = await run('key adopt --yes', sealsWithB)
  expect([adopt.exitCode, adopt.stderr]).toEqual([1, expect.stringContaining('Stop all servers first')])
})

test('a rotation is killed in the middle, others write meanwhile, and the next one ends it', async () => {
  const [one, two] = [await serve('one', sealsWithB), await serve('two', sealsWithB)]
  expect(await doctor(sealsWithB)).toMatch(
    /^ok .* SECRET_KEY holds a key that this database is to be sealed with .* SECRET_KEY_PREVIOUS holds the previous one \(.*\), which \d+ of \d+ stored secrets need: run ".*secret rotate"\. A copy of both/,
  )
  const { sql } = open
  const both = createSecrets(B, A)
  const written = both.seal('hook secret', 'written meanwhile')
  // Enough for several batches, of which the second waits for a row.
  const old = createSecrets(A).seal('hook secret', 'old')
  await sql`
    insert into hooks (scope, owner_id, type, url, content_type, secret, events, is_active)
    select 'owner', 1, 'gitea', 'https://example.com/', 'json', ${old}, '{push}', false from generate_series(1, 1200)`
  for (const job of ['mail.send', 'account.recover']) {
    const purpose = job === 'mail.send' ? 'mail' : 'password recovery'
    const sealed = Buffer.from(createSecrets(A).seal(purpose, 'later')).toString('base64')
    await sql`
      insert into jobs (name, payload, max_attempts, run_at)
      values (${job}, jsonb_build_object('sealed', ${sealed}::text), 1, now() + interval '1 day')`
  }
  const [{ id } = { id: 0 }] = await sql<{ id: number }[]>`select max(id) - 300 as id from hooks`
  await sql.begin(async (tx) => {
    await tx`update hooks set secret = ${written} where id = ${id}`
    const child = Bun.spawn([compiledProgram(), 'secret', 'rotate'], {
      cwd: '/',
      env: { PATH: process.env.PATH ?? '', ...settingsOf('command', sealsWithB), LOG_LEVEL: 'warn' },
      stdout: 'ignore',
      stderr: 'ignore',
    })
    await untilWaiting('transactionid')
    child.kill('SIGKILL')
    await child.exited
  })
  const left = /which (\d+) of/.exec(await doctor(sealsWithB))?.[1]
  expect(Number(left)).toBeGreaterThan(300)
  expect(Number(left)).toBeLessThan(1200)
  expect(await rotateWhileWriting([one, two], { id: id + 100, written })).toMatch(
    /^(\d+) stored secrets are sealed anew\. All \d+ have been looked at, and none needs/,
  )
  const [hooks] =
    await sql`select count(*)::int as kept from hooks where id in (${id}, ${id + 100}) and secret = ${written}`
  expect(hooks?.kept).toBe(2)
  expect(await headers(one)).toEqual(expectedHeaders())
  expect(await headers(two)).toEqual(expectedHeaders())
})

/** One transaction has copied a hook before it was sealed anew, and commits when the rest is done; another one writes what is waited for. */
async function rotateWhileWriting(
  clients: Client[],
  { id, written }: { id: number; written: Uint8Array },
): Promise<string> {
  const copied = createSecrets(A).seal('hook authorization', 'Bearer copied')
  let isOver = false
  const write = async (client: Client, index: number) => {
    for (let round = 0; round < 15 && !isOver; round++) {
      await makeHook(client)
      if (index === 0) enrolled = new TOTP({ secret: (await client.post('/user/two_factor')).string('secret') })
    }
  }
  const writers = clients.map(write)
  const { running } = await open.sql.begin(async (tx) => {
    await tx`
      insert into hooks (scope, owner_id, type, url, content_type, authorization_header, events, is_active)
      values ('owner', 1, 'gitea', 'https://example.com/copied', 'json', ${copied}, '{push}', false)`
    // Read with the old secret, and waited for: what is committed then has to stay.
    const { running } = await open.sql.begin(async (other) => {
      await other`update hooks set secret = ${written} where id = ${id}`
      const running = rotate(sealsWithB)
      await untilWaiting('transactionid')
      return { running }
    })
    await untilWaiting('relation')
    return { running }
  })
  const { exitCode, stdout } = await running
  isOver = true
  await Promise.all(writers)
  expect(exitCode).toBe(0)
  return stdout
}

test('it may be run again, and then the previous key may go: all is opened, and the old key is refused', async () => {
  const again = await rotate(sealsWithB)
  expect([again.exitCode, again.stdout]).toEqual([0, expect.stringMatching(/^0 stored secrets are sealed anew/)])
  expect(again.stdout).toContain('SECRET_KEY_PREVIOUS may go')
  expect(await doctor(sealsWithB)).toMatch(
    /holds the key of this database .* which 0 of \d+ .* need: SECRET_KEY_PREVIOUS may go/,
  )
  const count = await countSealed(open.db, createSecrets(B))
  expect(count).toMatchObject({ previous: 0, unreadable: 0 })
  expect(count.sealed).toBeGreaterThan(1200)
  const one = await serve('one', onlyB)
  await stop('two')
  expect(await signingKeys('one')).toEqual(keysBefore)
  expect(await headers(one)).toEqual(expectedHeaders())
  expect(await doctor(onlyB)).toMatch(/^ok .* SECRET_KEY holds the key of this database/)
  expect((await one.post('/user/two_factor/confirm', { code: enrolled.generate() })).status).toBe(200)
  const old = await run('user list', onlyA)
  expect([old.exitCode, old.stdout]).toEqual([78, ''])
  const [audit] = await open.sql`select count(*)::int as count from audit_entries where action = 'secret_key.rotate'`
  expect(audit?.count).toBe(1)
})
