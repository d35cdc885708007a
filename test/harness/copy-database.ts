import { connect } from '../../db/connect.ts'
import { createTestDatabase, type TestDatabase } from './database.ts'

/**
 * A database of its own with the rows of another, as of one moment, while others go on writing there: what `pg_dump` and `psql` do,
 * by one snapshot and with triggers off. The built-in PostgreSQL has neither program.
 */
export async function copyDatabase(url: string): Promise<TestDatabase> {
  const copy = await createTestDatabase()
  const [from, to] = [connect(url, { max: 1 }), connect(copy.url, { max: 1, onnotice: () => undefined })]
  try {
    await to`set session_replication_role = replica`
    await from.begin('isolation level repeatable read read only', async (source) => {
      const tables = await source<{ name: string; columns: string }[]>`
        select attrelid::regclass::text as name, string_agg(quote_ident(attname), ', ') as columns
        from pg_attribute join pg_class on pg_class.oid = attrelid
        where relkind = 'r' and relnamespace = 'public'::regnamespace
          and attnum > 0 and not attisdropped and attgenerated = ''
        group by 1`
      await to.unsafe(`truncate ${tables.map(({ name }) => name).join(', ')}`)
      // As JSON: COPY by the driver stops for good on Bun once a table is larger than a socket's buffer.
      for (const { name, columns } of tables) {
        const [rows] = await source.unsafe(`select coalesce(json_agg(own), '[]')::text as json from ${name} own`)
        const typed = `select ${columns} from json_populate_recordset(null::${name}, $1::text::json)`
        await to.unsafe(`insert into ${name} (${columns}) overriding system value ${typed}`, [rows?.json])
      }
    })
    const sequences = await from<{ name: string; last: string }[]>`
      select format('%I.%I', schemaname, sequencename) as name, last_value as last from pg_sequences where last_value is not null`
    for (const { name, last } of sequences) await to`select setval(${name}::text::regclass, ${last}::text::bigint)`
    return copy
  } finally {
    await Promise.all([from.end(), to.end()])
  }
}
