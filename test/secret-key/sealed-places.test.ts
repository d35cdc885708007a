import { afterAll, beforeAll, expect, test } from 'bun:test'
import { PgDialect } from 'drizzle-orm/pg-core'
import { type Database, openDatabase } from '../../db/client.ts'
import { createSecrets } from '../../src/auth/secrets.ts'
import { jobCatalogue } from '../../src/jobs/catalogue.ts'
import { purposePlaces } from '../../src/secret-key/sealed-places.ts'
import { createTestDatabase, type TestDatabase } from '../harness/database.ts'

/** Columns of bytes that nothing is sealed in. */
const OPEN = [
  'actions_log_chunks.lines',
  'avatars.content',
  'gpg_keys.certificate',
  'gpg_keys.packet',
  'passkeys.public_key',
]

let database: TestDatabase
let open: Database
beforeAll(async () => {
  database = await createTestDatabase()
  open = openDatabase(database.url, { poolSize: 1 })
})
afterAll(async () => {
  await open.close()
  await database.drop()
})

/** What a statement of the place reads from, as `table.column`. */
const columnOf = (text: string): string =>
  /"(\w+)" as sealed from "(\w+)"/.exec(text)?.slice(1).reverse().join('.') ?? ''

test('every column of bytes is in the list of what is sealed, or is known to be open', async () => {
  const columns = await open.sql<{ name: string }[]>`
    select table_name || '.' || column_name as name from information_schema.columns
    where table_schema = 'public' and data_type = 'bytea' order by 1`
  // The statements are run, so that each column and key is there, and their text is what the server was sent.
  const dialect = new PgDialect()
  const sealed = purposePlaces.map(({ place }) => columnOf(dialect.sqlToQuery(place.next(undefined, 1)).sql))
  expect([...new Set([...sealed.filter((name) => name !== ''), ...OPEN])].sort()).toEqual(
    columns.map(({ name }) => name),
  )
  for (const { place } of purposePlaces) {
    expect([...(await open.db.execute(place.next(undefined, 1)))]).toEqual([])
    expect([...(await open.db.execute(place.next(1, 1)))]).toEqual([])
    const nothing = { key: 1, sealed: new Uint8Array(1) }
    expect((await open.db.execute(place.replace(nothing, new Uint8Array(1)))).count).toBe(0)
  }
})

test('so is every job whose payload is sealed', () => {
  const sealing = Object.entries(jobCatalogue).filter(([, { payload }]) => Object.hasOwn(payload.properties, 'sealed'))
  const listed = purposePlaces.filter(({ place }) => place.table === 'jobs')
  expect(sealing.length).toBeGreaterThan(0)
  expect(listed).toHaveLength(sealing.length)
})

test('what the previous key has sealed and signed is opened and counts, and the present one seals and signs', () => {
  const [a, b] = ['a'.repeat(32), 'b'.repeat(32)]
  const [before, both, after] = [createSecrets(a), createSecrets(b, a), createSecrets(b)]
  const old = before.seal('mail', 'text')
  expect([both.open('mail', old), both.keyOf('mail', old), after.keyOf('mail', old)]).toEqual([
    'text',
    'previous',
    undefined,
  ])
  expect(both.tryOpen('hook url', old)).toBeUndefined()
  const fresh = both.seal('mail', 'text')
  expect([both.keyOf('mail', fresh), after.open('mail', fresh), before.tryOpen('mail', fresh)]).toEqual([
    'present',
    'text',
    undefined,
  ])
  expect(both.signatures('cursor', 'x')).toEqual([after.sign('cursor', 'x'), before.sign('cursor', 'x')])
  expect([both.sign('cursor', 'x'), after.signatures('cursor', 'x')]).toEqual([
    after.sign('cursor', 'x'),
    [after.sign('cursor', 'x')],
  ])
  expect([both.fingerprint, both.previousFingerprint]).toEqual([after.fingerprint, before.fingerprint])
  expect(createSecrets(a, a).previousFingerprint).toBeUndefined()
})
