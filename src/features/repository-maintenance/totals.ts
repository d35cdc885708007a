import { sql } from 'drizzle-orm'
import { repositoryTotals } from '../../../db/schema/repositories.ts'
import type { Context } from '../../context.ts'
import type { CronTask } from '../../jobs/cron-tasks.ts'

/** Fewer rows than this are summed up faster than they are rolled together. */
const ENOUGH = 64

/** Rolls the changes of the totals into one row for each sort of repository. Sums stay exact for whoever reads meanwhile. */
export async function rollTotals({ db }: Pick<Context, 'db'>): Promise<void> {
  await db.execute(sql`
    with gone as (
      delete from ${repositoryTotals} where (select count(*) from ${repositoryTotals}) > ${ENOUGH} returning *)
    insert into ${repositoryTotals}
    select owner_visibility, is_private, is_archived, is_template, is_fork, is_mirror, sum(repositories)
    from gone group by 1, 2, 3, 4, 5, 6 having sum(repositories) <> 0`)
}

export const totalsTask: CronTask = {
  name: 'roll_repository_totals',
  schedule: '@every 1m',
  description: 'Roll the counts of repositories together',
  run: rollTotals,
}
