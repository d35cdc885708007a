import { afterAll, beforeAll, expect, test } from 'bun:test'
import type postgres from 'postgres'
import { connect } from '../../db/connect.ts'
import { MigrationError, migrate } from '../../db/migrate.ts'
import { createBareDatabase, type TestDatabase } from '../harness/database.ts'

const first = {
  name: '0000_first',
  sql: 'create table first (id int);\n--> statement-breakpoint\ncreate table other (id int);',
}
const second = { name: '0001_second', sql: 'alter table first add column name text;' }
const broken = { name: '0002_broken', sql: 'create table half (id int); select 1 / 0;' }

let database: TestDatabase
let sql: postgres.Sql
beforeAll(async () => {
  database = await createBareDatabase()
  sql = connect(database.url, { max: 1 })
})
afterAll(async () => {
  await sql.end()
  await database.drop()
})

const refusalOf = async (work: Promise<unknown>): Promise<string> => {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  return error instanceof MigrationError ? error.message : `no refusal but ${String(error)}`
}

test('two processes that start together apply each file once', async () => {
  const migrations = [first, second]
  const both = await Promise.all([migrate(database.url, { migrations }), migrate(database.url, { migrations })])
  expect(both.flat().sort()).toEqual(['0000_first', '0001_second'])
  expect(await migrate(database.url, { migrations })).toEqual([])
})

test('a file that fails leaves nothing behind', async () => {
  const migrations = [first, second, broken]
  await expect(migrate(database.url, { migrations })).rejects.toThrow('division by zero')
  const [half] = await sql`select to_regclass('half') as half`
  expect(half?.half).toBeNull()
  expect(await sql`select 1 from __migrations where name = '0002_broken'`).toHaveLength(0)
})

test('a database that is newer than the program is refused before anything is touched', async () => {
  const unknown = await refusalOf(migrate(database.url, { migrations: [first] }))
  expect(unknown).toContain('the database is newer than this program: it has 0001_second')
})

test('a file that was changed after it was applied is refused', async () => {
  const migrations = [first, { ...second, sql: `${second.sql} -- edited` }]
  expect(await refusalOf(migrate(database.url, { migrations }))).toContain('0001_second')
})
