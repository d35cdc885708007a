import { connect } from '../../db/connect.ts'
import type { TestService } from '../harness/service.ts'
import { until } from '../harness/until.ts'

/**
 * Sends requests while the newest row of a table is locked, so that they meet: none goes on before at least half of them wait for the
 * row, having read it.
 */
export async function whileHeld<Answer>(
  { databaseUrl }: TestService,
  table: 'oauth_authorizations' | 'oauth_requests',
  requests: readonly (() => Promise<Answer>)[],
): Promise<Answer[]> {
  const sql = connect(databaseUrl, { max: 2 })
  try {
    let sent: Promise<Answer>[] = []
    await sql.begin(async (holding) => {
      const newest = table === 'oauth_requests' ? 'created_at' : 'id'
      await holding.unsafe(`select 1 from ${table} order by ${newest} desc limit 1 for update`)
      sent = requests.map((send) => send())
      await until(async () => {
        const [row] = await sql<{ waiting: number }[]>`
          select count(*)::int as waiting from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`
        return (row?.waiting ?? 0) >= requests.length / 2
      }, 'the requests wait for the row')
    })
    return await Promise.all(sent)
  } finally {
    await sql.end()
  }
}
