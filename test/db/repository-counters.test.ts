import { expect, test } from 'bun:test'
import { connect } from '../../db/connect.ts'
import { migrate } from '../../db/migrate.ts'
import { migrations } from '../../db/migrations/index.ts'
import { createBareDatabase } from '../harness/database.ts'

const NAME = '_repository_counters'

test('numbers that stood in the rows of repositories are carried over', async () => {
  const database = await createBareDatabase()
  const sql = connect(database.url, { max: 1 })
  try {
    const place = migrations.findLastIndex(({ name }) => name.endsWith(NAME))
    await migrate(database.url, { migrations: migrations.slice(0, place) })
    await sql`insert into users (name, email, kind) values ('ann', 'a@example.com', 'user'), ('bob', 'b@example.com', 'user')`
    await sql`insert into repositories (id, owner_id, name, size_bytes, last_issue_number, branch_count)
      overriding system value values (1, 1, 'source', 1234, 7, 2), (2, 1, 'other', 5, 0, 1)`
    await sql`insert into stars (user_id, repository_id) values (1, 1), (2, 1)`
    await sql`insert into milestones (id, repository_id, title) overriding system value values (1, 1, 'm')`
    await sql`insert into issues (repository_id, number, title, is_closed, milestone_id)
      values (1, 5, 'open', false, 1), (1, 6, 'closed', true, 1)`
    // Whoever forked twice before there was an index.
    await sql`insert into repositories (id, owner_id, name, is_fork, parent_id)
      overriding system value values (3, 2, 'fork', true, 1), (4, 2, 'again', true, 1)`
    await migrate(database.url, { migrations: migrations.slice(0, place + 1) })
    const rows = await sql`select * from repository_counters order by repository_id`
    expect([...rows]).toMatchObject([
      { stars_count: 2, forks_count: 1, branch_count: 2, open_issues_count: 1, last_issue_number: 7 },
      { stars_count: 0, forks_count: 0, branch_count: 1, open_issues_count: 0, last_issue_number: 0 },
      { forks_count: 0 },
      { forks_count: 0 },
    ])
    expect(rows.map(({ size_bytes }) => Number(size_bytes))).toEqual([1234, 5, 0, 0])
    const forks = await sql`select id::int, parent_id::int, is_fork from repositories where owner_id = 2 order by id`
    expect([...forks]).toEqual([
      { id: 3, parent_id: 1, is_fork: true },
      { id: 4, parent_id: null, is_fork: false },
    ])
    expect([...(await sql`select open_issues_count, closed_issues_count from milestones`)]).toEqual([
      { open_issues_count: 1, closed_issues_count: 1 },
    ])
    await sql`delete from repositories where id = 1`
    expect([...(await sql`select repository_id::int from repository_counters order by 1`)]).toEqual([
      { repository_id: 2 },
      { repository_id: 3 },
      { repository_id: 4 },
    ])
  } finally {
    await sql.end()
    await database.drop()
  }
})

test('files that were there before their bytes were counted are counted', async () => {
  const database = await createBareDatabase()
  const sql = connect(database.url, { max: 1 })
  try {
    const place = migrations.findLastIndex(({ name }) => name.endsWith('_attachment_bytes'))
    await migrate(database.url, { migrations: migrations.slice(0, place) })
    await sql`insert into users (name, email, kind) values ('ann', 'a@example.com', 'user')`
    await sql`insert into repositories (id, owner_id, name) overriding system value values (1, 1, 'files'), (2, 1, 'none')`
    await sql`insert into issues (repository_id, number, title) values (1, 1, 'i')`
    for (const size of [5, 2 ** 40])
      await sql`insert into attachments (uuid, repository_id, issue_id, name, size, sha256, media_type)
        select gen_random_uuid(), 1, id, 'a', ${size}, 'x', 'text/plain' from issues`
    await migrate(database.url, { migrations: migrations.slice(0, place + 1) })
    const counted = () => sql`select attachment_bytes::text as bytes from repository_counters order by repository_id`
    expect([...(await counted())]).toEqual([{ bytes: String(2 ** 40 + 5) }, { bytes: '0' }])
    await sql`delete from attachments where size = 5`
    expect([...(await counted())]).toEqual([{ bytes: String(2 ** 40) }, { bytes: '0' }])
  } finally {
    await sql.end()
    await database.drop()
  }
})
