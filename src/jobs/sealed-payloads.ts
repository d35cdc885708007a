import { getTableName, sql } from 'drizzle-orm'
import { jobs } from '../../db/schema/jobs.ts'
import type { SealedPlace } from '../../db/sealed-place.ts'
import type { JobName } from './catalogue.ts'

/** Jobs whose payload has something sealed, as base64 in `sealed`. Those that have failed for good count too. */
export function sealedPayloads(name: JobName): SealedPlace {
  const sealed = sql`decode(payload ->> 'sealed', 'base64')`
  return {
    table: getTableName(jobs),
    next: (after, limit) => sql`
      select id as key, ${sealed} as sealed from ${jobs}
      where name = ${name} and id > ${after ?? 0} order by id limit ${limit}`,
    replace: ({ key, sealed: read }, bytes) => sql`
      update ${jobs} set payload = payload || jsonb_build_object('sealed', ${Buffer.from(bytes).toString('base64')}::text)
      where id = ${key} and ${sealed} = ${read}`,
  }
}
