import { afterAll, beforeAll, expect, test } from 'bun:test'
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '../../db/client.ts'
import { createClient } from '../harness/client.ts'
import { createBareDatabase, type TestDatabase } from '../harness/database.ts'
import { type RunningProgram, runProgram, serveProgram } from '../harness/program.ts'

const PASSWORD = 'correct horse battery'

let folder: string
let database: TestDatabase
let server: RunningProgram | undefined
const path = (name: string) => join(folder, name)
const keyIn = (name: string) => readFileSync(path(name), 'utf8').trim()
const settings = () => ({
  DATABASE_URL: database.url,
  DATA_DIR: folder,
  ADMIN_USERNAME: 'ann',
  ADMIN_PASSWORD: PASSWORD,
  LOG_LEVEL: 'info',
})
const run = (words: string) => runProgram(words.split(' '), { ...settings(), LOG_LEVEL: 'warn' })

async function serve() {
  await stop()
  server = await serveProgram(settings())
  return createClient({ url: server.url, credential: { basic: `ann:${PASSWORD}` } })
}
async function stop(): Promise<void> {
  server?.kill('SIGTERM')
  await server?.exited
  server = undefined
}
const hook = {
  type: 'gitea',
  config: { url: 'https://example.com', content_type: 'json' },
  authorization_header: 'Bearer kept',
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hearth-rotate-'))
  database = await createBareDatabase()
})
afterAll(async () => {
  await stop()
  await database.drop()
  rmSync(folder, { recursive: true, force: true })
})

test('without SECRET_KEY a new key file is made; the server that runs has to be started with it first', async () => {
  const made = await (await serve()).post('/admin/hooks', hook)
  expect(made.status).toBe(201)
  const first = keyIn('secret.key')
  const begun = await run('secret rotate')
  expect(begun.exitCode).toBe(1)
  expect(begun.stdout).toBe(
    `${path('secret.key')} holds a new key, and ${path('secret.key.previous')} the one before.\n`,
  )
  expect(begun.stderr).toStartWith('1 server works on this database with another key')
  expect(keyIn('secret.key.previous')).toBe(first)
  const second = keyIn('secret.key')
  expect(second).toMatch(/^[0-9a-f]{64}$/)
  expect(second).not.toBe(first)
  for (const name of ['secret.key', 'secret.key.previous']) expect(statSync(path(name)).mode & 0o777).toBe(0o600)

  const still = await run('secret rotate')
  expect([still.exitCode, still.stdout, keyIn('secret.key')]).toEqual([1, '', second])
  const client = await serve()
  expect((await client.get(`/admin/hooks/${made.number('id')}`)).string('authorization_header')).toBe('Bearer kept')
  const ended = await run('secret rotate')
  expect([ended.exitCode, ended.stderr]).toEqual([0, ''])
  expect(ended.stdout).toContain(`${path('secret.key.previous')} may go`)
  const again = await run('secret rotate')
  expect([again.exitCode, keyIn('secret.key')]).toEqual([0, second])

  rmSync(path('secret.key.previous'))
  const after = await serve()
  expect((await after.get(`/admin/hooks/${made.number('id')}`)).string('authorization_header')).toBe('Bearer kept')
})

test('where no server runs one command does it all, and an attempt that was cut short is gone on with', async () => {
  await stop()
  const second = keyIn('secret.key')
  // As a kill leaves it behind the first of the two steps.
  copyFileSync(path('secret.key'), path('secret.key.previous'))
  const open = openDatabase(database.url, { poolSize: 1 })
  const busy = await open.sql.begin(async (tx) => {
    await tx`update hooks set name = '' where false`
    return run('secret rotate')
  })
  await open.close()
  expect([busy.exitCode, busy.stderr]).toEqual([
    1,
    'something writes to hooks for long: run this again when it has ended\n',
  ])
  const rotated = await run('secret rotate')
  expect([rotated.exitCode, rotated.stderr]).toEqual([0, ''])
  expect(keyIn('secret.key')).not.toBe(second)
  expect(keyIn('secret.key.previous')).toBe(second)
  expect(
    readdirSync(folder)
      .filter((name) => name.startsWith('secret.key'))
      .sort(),
  ).toEqual(['secret.key', 'secret.key.previous'])
  rmSync(path('secret.key.previous'))
  expect((await run('user list')).exitCode).toBe(0)
  expect(existsSync(path('secret.key.previous'))).toBe(false)
})

test('what neither key opens is named, stays as it is, and holds nothing up', async () => {
  const open = openDatabase(database.url, { poolSize: 1 })
  const damaged = await open.sql`
    insert into two_factors (user_id, secret) select id, decode(repeat('01', 60), 'hex') from users where name = 'ann' returning secret`
  const rotated = await run('secret rotate')
  expect(rotated.exitCode).toBe(1)
  expect(rotated.stdout).toContain('1 of them cannot be opened with either key, and are as they were')
  expect([...(await open.sql`delete from two_factors returning secret`)]).toEqual([...damaged])
  await open.close()
  rmSync(path('secret.key.previous'))
  expect((await run('user list')).exitCode).toBe(0)
})

test('`key adopt` gives nothing up while the key is at hand', async () => {
  const bySetting = { SECRET_KEY: 'a new key, of more than 32 characters', SECRET_KEY_PREVIOUS: keyIn('secret.key') }
  const refused = await runProgram(['key', 'adopt', '--yes'], { ...settings(), LOG_LEVEL: 'warn', ...bySetting })
  expect([refused.exitCode, refused.stderr]).toEqual([
    78,
    'SECRET_KEY_PREVIOUS holds the key of this database: nothing has to be given up. To fix it: run "bun run start secret rotate"\n',
  ])
})
