import { connect } from '../../db/connect.ts'

/**
 * Fills a database with people and repositories as the API would leave them. The repositories have no folder: what is measured
 * on them reads rows only.
 */
export async function fillRepositories(url: string, count: number): Promise<void> {
  const sql = connect(url, { max: 1, onnotice: () => undefined })
  try {
    const owners = Math.ceil(count / 100)
    await sql`insert into users (name, email) select 'owner' || n, 'owner' || n || '@localhost.localdomain'
      from generate_series(1, ${owners}::int) n on conflict do nothing`
    await sql`insert into repositories (owner_id, name, description, is_private, is_empty)
      select u.id, 'project-' || md5(n::text), 'A repository made for measuring, number ' || n, n % 20 = 0, false
      from generate_series(1, ${count}::int) n join users u on u.name = 'owner' || (1 + n % ${owners}::int)
      on conflict do nothing`
    await sql`vacuum analyze`
  } finally {
    await sql.end()
  }
}
