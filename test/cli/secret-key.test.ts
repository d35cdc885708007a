import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LISTENER_NAME } from '../../db/channels.ts'
import { type Database, openDatabase } from '../../db/client.ts'
import { connect } from '../../db/connect.ts'
import { createBareDatabase, type TestDatabase } from '../harness/database.ts'
import { runProgram } from '../harness/program.ts'

const ANOTHER_KEY = 'another key, of more than 32 characters'

let folder: string
let database: TestDatabase
let open: Database
const key = () => readFileSync(join(folder, 'first/secret.key'), 'utf8').trim()
const run = (words: string, dataDir: string, settings: Record<string, string> = {}) =>
  runProgram(words === '' ? [] : words.split(' '), {
    DATABASE_URL: database.url,
    DATA_DIR: join(folder, dataDir),
    REPOSITORIES_DIR: join(folder, 'repositories'),
    PORT: '0',
    LOG_LEVEL: 'warn',
    ...settings,
  })

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hearth-key-'))
  database = await createBareDatabase()
  open = openDatabase(database.url, { poolSize: 2 })
  expect((await run('user create ann --email ann@example.com', 'first')).exitCode).toBe(0)
})
afterAll(async () => {
  await open.close()
  await database.drop()
  rmSync(folder, { recursive: true, force: true })
})

test.each(['', 'user list', 'user create bob --email bob@example.com', 'doctor --data'])(
  '"%s" with another DATA_DIR is refused in one line that says what to bring, and makes no key',
  async (words) => {
    const { exitCode, stderr, stdout } = await run(words, 'second')
    expect([exitCode, stdout]).toEqual([78, ''])
    const file = join(folder, 'second/secret.key')
    expect(stderr).toBe(
      `The secret key is missing or wrong: ${file} does not exist, and SECRET_KEY is not set. To fix it: bring the file secret.key of the first server to ${file}, or set SECRET_KEY to what it holds. Where it is lost: "bun run start key adopt --help"\n`,
    )
    expect(existsSync(file)).toBe(false)
  },
)

test('another SECRET_KEY is refused, and shown nowhere; the right one is taken', async () => {
  const wrong = await run('user list', 'second', { SECRET_KEY: ANOTHER_KEY })
  expect(wrong.exitCode).toBe(78)
  expect(wrong.stderr).toMatch(
    /^The secret key is missing or wrong: the key in SECRET_KEY is another one .* To fix it: set SECRET_KEY .*\n$/,
  )
  expect(wrong.stderr).not.toContain(ANOTHER_KEY)
  const right = await run('user list', 'second', { SECRET_KEY: key() })
  expect([right.exitCode, right.stdout]).toEqual([0, expect.stringMatching(/^1\tann\t/)])
})

test('doctor tells it', async () => {
  const good = await run('doctor', 'first')
  const [row] = await open.sql<{ fingerprint: string }[]>`select key_fingerprint as fingerprint from instance`
  expect(good.stdout).toContain(
    `ok     Secret key: ${join(folder, 'first/secret.key')} holds the key of this database (fingerprint ${row?.fingerprint}); a copy of it belongs beside the backups\n`,
  )
  expect(good.stdout).not.toContain(key())
  const byValue = await run('doctor', 'second', { SECRET_KEY: key() })
  expect(byValue.stdout).toContain(
    `ok     Secret key: SECRET_KEY holds the key of this database (fingerprint ${row?.fingerprint})`,
  )
  const bad = await run('doctor', 'second', { SECRET_KEY: ANOTHER_KEY })
  expect(bad.stdout).toContain(
    'FAULT  Secret key: The secret key is missing or wrong: the key in SECRET_KEY is another one',
  )
  expect(bad.exitCode).toBe(1)
})

test('a database of before the fingerprint takes no key that opens none of its secrets', async () => {
  const { sql } = open
  await sql`delete from instance`
  // What another key made: bytes that the first key does not open.
  await sql`insert into two_factors (user_id, secret) select id, decode(repeat('01', 60), 'hex') from users where name = 'ann'`
  const refused = await run('user list', 'first')
  expect(refused.exitCode).toBe(78)
  expect(refused.stderr).toContain('opens none of the secrets in this database')
  expect(await sql`select 1 from instance`).toHaveLength(0)
  await sql`delete from two_factors`
  expect((await run('user list', 'first')).exitCode).toBe(0)
  expect((await run('user list', 'second', { SECRET_KEY: ANOTHER_KEY })).exitCode).toBe(78)
})

test('where the key is lost, another one is adopted, and what the lost one sealed is cleared', async () => {
  const { sql } = open
  const settings = { SECRET_KEY: ANOTHER_KEY }
  const sealed = "decode(repeat('01', 60), 'hex')"
  await sql`insert into two_factors (user_id, secret) select id, ${sql.unsafe(sealed)} from users where name = 'ann'`
  await sql`insert into recovery_codes (user_id, code_hash) select id, 'a' from users where name = 'ann'`
  const insert = (url: string, secret: string) => sql`
    insert into hooks (scope, type, url, sealed_url, content_type, secret, events, is_active)
    values ('site', 'gitea', ${url}, ${sql.unsafe(sealed)}, 'json', ${sql.unsafe(secret)}, '{push}', true)`
  await insert('https://example.com/plain', 'null')
  await insert('https://example.com/secret', sealed)
  await insert('https://example.com/?key=***', 'null')
  await sql`insert into jobs (name, payload, max_attempts) values ('mail.send', '{"sealed":"AA=="}', 1)`
  await sql`insert into auth_sources (name, label, issuer, client_id, client_secret, scopes) values
    ('kept', 'Kept', 'https://kept.example', 'x', null, '{openid}'), ('lost', 'Lost', 'https://lost.example', 'x', ${sql.unsafe(sealed)}, '{openid}')`
  await sql`insert into actions_values (kind, owner_id, name, value, sealed_value) values
    ('secret', 1, 'KEY', null, ${sql.unsafe(sealed)}), ('variable', 1, 'WORD', 'said', null)`
  await sql`insert into actions_registration_tokens (token_hash, token) values ('a', ${sql.unsafe(sealed)})`
  const held =
    () => sql`select (select array_agg(name) from auth_sources where is_active and (client_secret is null or name = 'lost')) as sources, (select count(*)::int from two_factors) as factors,
    (select array_agg(name order by name) from actions_values) as values, (select count(*)::int from actions_registration_tokens) as registration,
    (select count(*)::int from recovery_codes) as codes, (select count(*)::int from jobs where name = 'mail.send') as mails,
    (select array_agg(is_active order by id) from hooks) as active,
    (select count(*)::int from hooks where secret is not null or sealed_url is not null) as sealed`

  const asked = await run('key adopt', 'second', settings)
  expect(asked.exitCode).toBe(1)
  expect(asked.stdout).toContain('1 second factors would be removed')
  expect(asked.stdout).toContain('1 secrets of Actions would be deleted')
  expect(asked.stdout).toContain('2 hooks would be switched off')
  expect(asked.stdout).toContain('1 providers that people sign in by would be switched off')
  const before = {
    sources: ['kept', 'lost'],
    factors: 1,
    codes: 1,
    mails: 1,
    active: [true, true, true],
    sealed: 3,
    values: ['KEY', 'WORD'],
    registration: 1,
  }
  expect([...(await held())]).toEqual([before])
  expect((await run('user list', 'second', settings)).exitCode).toBe(78)

  const listener = connect(database.url, { max: 1, connection: { application_name: LISTENER_NAME } })
  await listener`select 1`
  const refused = await run('key adopt --yes', 'second', settings)
  expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining('Stop all servers first')])
  await listener.end()
  const adopted = await run('key adopt --yes', 'second', settings)
  expect([adopted.exitCode, adopted.stderr]).toEqual([0, ''])
  expect(adopted.stdout).toContain('1 second factors are removed')
  const after = {
    sources: ['kept'],
    factors: 0,
    codes: 0,
    mails: 0,
    active: [true, false, false],
    sealed: 0,
    values: ['WORD'],
    registration: 0,
  }
  expect([...(await held())]).toEqual([after])
  expect((await run('user list', 'second', settings)).stdout).toMatch(/^1\tann\t/)
  expect((await run('user list', 'first')).exitCode).toBe(78)
  const again = await run('key adopt --yes', 'second', settings)
  expect([again.exitCode, again.stderr]).toEqual([
    78,
    'SECRET_KEY holds the key of this database: there is nothing to adopt\n',
  ])
})
