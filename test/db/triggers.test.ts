import { expect, test } from 'bun:test'
import { resolve } from 'node:path'
import { openDatabase } from '../../db/client.ts'
import { createTestDatabase } from '../harness/database.ts'

test('db/README.md lists every trigger, with its table', async () => {
  const home = await createTestDatabase()
  const { sql, close } = openDatabase(home.url, { poolSize: 1 })
  // Without those of partitions, which are copies.
  const rows = await sql<{ name: string; table: string }[]>`
    select tgname as name, tgrelid::regclass::text as table from pg_trigger where not tgisinternal and tgparentid = 0`
  await close()
  await home.drop()
  const text = await Bun.file(resolve(import.meta.dir, '../../db/README.md')).text()
  const [, section = ''] = text.split('\n## Triggers\n')
  const lines = section.split('\n').map((line) => /^\| (`.*`) \| `(\w+)` \|/.exec(line))
  const listed = lines.flatMap((line) =>
    [...(line?.[1] ?? '').matchAll(/\w+/g)].map(([name]) => `${name} on ${line?.[2]}`),
  )
  expect(listed.sort()).toEqual(rows.map(({ name, table }) => `${name} on ${table}`).sort())
})
