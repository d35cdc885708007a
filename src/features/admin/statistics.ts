import { sql } from 'drizzle-orm'
import type { Context } from '../../context.ts'
import type { CronTask } from '../../jobs/cron-tasks.ts'

/** A stored number and what it must equal, over the table's own row. Names and SQL are constants of this file. */
interface Counter {
  table: 'repositories' | 'users' | 'milestones' | 'issues'
  column: string
  truth: string
}

const counters: readonly Counter[] = [
  count('repositories', 'stars_count', 'stars WHERE repository_id = own.id'),
  count('repositories', 'watchers_count', 'watches WHERE repository_id = own.id AND is_subscribed'),
  count('repositories', 'forks_count', 'repositories fork WHERE fork.parent_id = own.id'),
  count('repositories', 'branch_count', "refs WHERE repository_id = own.id AND kind = 'branch'"),
  count('repositories', 'open_issues_count', 'issues WHERE repository_id = own.id AND NOT is_pull AND NOT is_closed'),
  count('repositories', 'open_pulls_count', 'issues WHERE repository_id = own.id AND is_pull AND NOT is_closed'),
  count('users', 'stars_count', 'stars WHERE user_id = own.id'),
  count('users', 'repositories_count', 'repositories WHERE owner_id = own.id'),
  count('users', 'followers_count', 'follows WHERE followed_id = own.id'),
  count('users', 'following_count', 'follows WHERE follower_id = own.id'),
  count('milestones', 'open_issues_count', 'issues WHERE milestone_id = own.id AND NOT is_closed'),
  count('milestones', 'closed_issues_count', 'issues WHERE milestone_id = own.id AND is_closed'),
  count('issues', 'comments_count', "comments WHERE issue_id = own.id AND comments.kind = 'comment'"),
]

function count(table: Counter['table'], column: string, rows: string): Counter {
  return { table, column, truth: `(SELECT count(*)::integer FROM ${rows})` }
}

/** Finds numbers that are not what they count, sets them right and says which were wrong. */
export async function checkCounters({ db, log }: Context, signal: AbortSignal): Promise<number> {
  let repaired = 0
  for (const { table, column, truth } of counters) {
    if (signal.aborted) break
    const own = sql.raw(`${table} own`)
    const isWrong = sql.raw(`own.${column} <> ${truth}`)
    const wrong = await db.execute<{ id: number }>(sql`select own.id from ${own} where ${isWrong} order by own.id`)
    for (const { id } of wrong) {
      // Whoever changes the number holds the row. Counted only after the row is locked, in a statement that sees all before it.
      const [fixed] = await db.transaction(async (tx) => {
        await tx.execute(sql`select 1 from ${own} where own.id = ${id} for no key update`)
        const before = sql.raw(`(SELECT ${column} FROM ${table} old WHERE old.id = own.id)`)
        return tx.execute<{ was: number; is: number }>(sql`
          update ${own} set ${sql.raw(`${column} = ${truth}`)} where own.id = ${id} and ${isWrong}
          returning ${before} as was, ${sql.raw(`own.${column}`)} as is`)
      })
      if (!fixed) continue
      repaired += 1
      log.warn({ table, column, id, was: fixed.was, is: fixed.is }, 'a counter was wrong and is repaired')
    }
  }
  return repaired
}

export const statisticsTasks: readonly CronTask[] = [
  {
    name: 'check_repo_stats',
    schedule: '@midnight',
    description: 'Count stars, forks, issues and the like anew and repair the numbers that are wrong',
    async run(context, signal) {
      context.log.info({ repaired: await checkCounters(context, signal) }, 'counters checked')
    },
  },
]
