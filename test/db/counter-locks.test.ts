import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Sql } from 'postgres'
import { connect } from '../../db/connect.ts'
import { createTestDatabase, type TestDatabase } from '../harness/database.ts'
import { until } from '../harness/until.ts'

const [FIRST, LAST] = [1, 9]

let home: TestDatabase
let sql: Sql
beforeAll(async () => {
  home = await createTestDatabase()
  sql = connect(home.url, { max: 4 })
  await sql`insert into users (name, email, kind) values ('ann', 'a@example.com', 'user')`
  // The last one comes first in the table, and so in whatever is read without an order.
  for (const id of [LAST, FIRST]) {
    await sql`insert into repositories (id, owner_id, name) overriding system value values (${id}, 1, ${`r${id}`})`
    await sql`insert into refs (repository_id, kind, name, sha) values (${id}, 'branch', 'main', 'x'), (${id}, 'tag', 'v1', 'x')`
    await sql`insert into releases (repository_id, tag_name, published_at) values (${id}, 'v1', now())`
    await sql`insert into issues (repository_id, number, title) values (${id}, 1, 'i')`
    await sql`insert into lfs_objects (id, oid, size_bytes, store_key) overriding system value values (${id}, ${String(id).repeat(64)}, 5, ${id})`
    await sql`insert into repository_lfs_objects (repository_id, object_id) values (${id}, ${id})`
    await sql`insert into attachments (uuid, repository_id, issue_id, name, size, sha256, media_type)
      select gen_random_uuid(), ${id}, id, 'a', 5, 'x', 'text/plain' from issues where repository_id = ${id}`
    await sql`insert into stars (user_id, repository_id) values (1, ${id})`
  }
})
afterAll(async () => {
  await sql.end()
  await home.drop()
})

test.each([
  `delete from refs where kind = 'branch'`,
  'update releases set is_draft = true',
  'update releases set is_draft = false',
  'delete from releases',
  'delete from repository_lfs_objects',
  'delete from attachments',
  'delete from issues',
  'delete from stars',
])('counters are locked in the order of repositories: %s', async (statement) => {
  let waiting: Promise<unknown> = Promise.resolve()
  await sql.begin(async (holding) => {
    await holding`select 1 from repository_counters where repository_id = ${FIRST} for update`
    waiting = sql.begin((tx) => tx.unsafe(statement))
    await until(
      async () =>
        (await sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`)
          .length > 0,
      'the statement waits for the first repository',
    )
    const free = await sql`
      select repository_id::int as id from repository_counters where repository_id = ${LAST} for update skip locked`
    expect([...free]).toEqual([{ id: LAST }])
  })
  await waiting
  expect(
    await sql`select 1 from repository_counters
    where branch_count + releases_count + lfs_bytes + attachment_bytes + open_issues_count + stars_count < 0`,
  ).toHaveLength(0)
})
