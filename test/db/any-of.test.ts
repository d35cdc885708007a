import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { anyOf } from '../../db/any-of.ts'
import { type Database, openDatabase } from '../../db/client.ts'
import { refs } from '../../db/schema/refs.ts'
import { users } from '../../db/schema/users.ts'
import { createTestDatabase, type TestDatabase } from '../harness/database.ts'

let home: TestDatabase
let database: Database
beforeAll(async () => {
  home = await createTestDatabase()
  database = openDatabase(home.url, { poolSize: 1 })
})
afterAll(async () => {
  await database.close()
  await home.drop()
})

test('lists of every length are one statement, which is kept once', async () => {
  const { db } = database
  for (let length = 0; length < 5; length++) {
    const ids = Array.from({ length }, (_, index) => index)
    expect(await db.select({ id: users.id }).from(users).where(anyOf(users.id, ids))).toEqual([])
  }
  const kept =
    await database.sql`select 1 from pg_prepared_statements where statement like 'select "id" from "users" where%any(%'`
  expect(kept).toHaveLength(1)
})

test.each([['a'], ['null'], ['a,b'], ['{}'], ['"'], ['\\'], ['\\"'], ['\n'], [' '], [''], ["'"]])(
  '%j means itself',
  async (text) => {
    const { db } = database
    // A subselect with the name of the table: columns are found in it by their names.
    const table = sql`(values (${text}::text)) as refs (name)`
    const found = await db.execute(sql`select refs.name from ${table} where ${anyOf(refs.name, ['other', text])}`)
    expect(found.map(({ name }) => name)).toEqual([text])
    expect(await db.execute(sql`select 1 from ${table} where ${anyOf(refs.name, [`${text}x`])}`)).toHaveLength(0)
  },
)
