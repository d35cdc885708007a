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

/** Prose, lists, tables, links, images and a little code, in the proportions of a usual README. */
export function makeReadme(length: number): string {
  let text = '# Project\n\n[![build](https://ci.example/badge.svg)](https://ci.example) A tool for *everybody*.\n\n'
  for (let section = 1; text.length < length; section++) {
    text += `## Section ${section}\n\n`
    text +=
      'Some **important** words about `options`, a [guide](docs/guide.md), and https://example.com/page for more.\n'.repeat(
        4,
      )
    text += '\n- first item with `code`\n- second item, see #12\n  - nested item\n\n'
    text +=
      '| option | default | meaning |\n|---|:-:|---|\n| `port` | 3000 | where it listens |\n| `host` | all | which address |\n\n'
    if (section % 4 === 1)
      text += '```js\nimport { start } from "./start.js"\n\nconst server = await start({ port: 3000 })\n```\n\n'
  }
  return text.slice(0, length)
}
