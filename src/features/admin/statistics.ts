import { sql } from 'drizzle-orm'
import type { Context } from '../../context.ts'
import type { CronTask } from '../../jobs/cron-tasks.ts'
import { repairRepeated, repeatedFacts } from './repeated.ts'

/** A stored number and what it must equal, over the table's own row. Names and SQL are constants of this file. */
interface Counter {
  table: 'repository_counters' | 'repositories' | 'users' | 'milestones' | 'issues'
  column: string
  truth: string
  /** Between the stored one and the true one. */
  isWrong?: '<' | '<>'
}

const counters: readonly Counter[] = [
  // What everybody may know of.
  count(
    'repository_counters',
    'stars_count',
    "stars JOIN users ON users.id = user_id WHERE repository_id = own.repository_id AND users.visibility = 'public'",
  ),
  count(
    'repository_counters',
    'watchers_count',
    `watches JOIN users ON users.id = user_id
     WHERE repository_id = own.repository_id AND is_subscribed AND users.visibility = 'public'`,
  ),
  count(
    'repository_counters',
    'forks_count',
    `repositories fork JOIN users ON users.id = fork.owner_id
     WHERE fork.parent_id = own.repository_id AND NOT fork.is_private AND users.visibility = 'public'`,
  ),
  count('repository_counters', 'branch_count', "refs WHERE repository_id = own.repository_id AND kind = 'branch'"),
  count('repository_counters', 'releases_count', 'releases WHERE repository_id = own.repository_id AND NOT is_draft'),
  {
    table: 'repositories',
    column: 'is_empty',
    truth: "(NOT EXISTS (SELECT 1 FROM refs WHERE repository_id = own.id AND kind = 'branch'))",
  },
  count(
    'repository_counters',
    'open_issues_count',
    'issues WHERE repository_id = own.repository_id AND NOT is_pull AND NOT is_closed',
  ),
  count(
    'repository_counters',
    'open_pulls_count',
    'issues WHERE repository_id = own.repository_id AND is_pull AND NOT is_closed',
  ),
  {
    table: 'repository_counters',
    column: 'lfs_bytes',
    truth: `(SELECT coalesce(sum(size_bytes), 0)::bigint FROM repository_lfs_objects
      JOIN lfs_objects ON lfs_objects.id = object_id WHERE repository_id = own.repository_id)`,
  },
  {
    table: 'repository_counters',
    column: 'attachment_bytes',
    truth: '(SELECT coalesce(sum(size), 0)::bigint FROM attachments WHERE repository_id = own.repository_id)',
  },
  {
    table: 'repository_counters',
    column: 'artifact_bytes',
    truth:
      '(SELECT coalesce(sum(held_bytes), 0)::bigint FROM actions_artifacts WHERE repository_id = own.repository_id)',
  },
  {
    table: 'repository_counters',
    column: 'last_issue_number',
    truth: '(SELECT coalesce(max(number), 0) FROM issues WHERE repository_id = own.repository_id)',
    // The last one may have been deleted; its number is not given again.
    isWrong: '<',
  },
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

export interface WrongCounter {
  table: Counter['table']
  column: string
  id: number
  /** What is stored, and what was counted in the same statement. */
  was: number | boolean
  is: number | boolean
}

/** Rows whose numbers one statement counts: it ends within seconds however large the table is. */
const SLICE = 5000

/** Numbers that are not what they count, by table and id. */
export async function* findWrongCounters(db: Context['db'], signal: AbortSignal): AsyncGenerator<WrongCounter> {
  for (const counter of counters) {
    const { table, column, truth } = counter
    const key = sql.raw(keyOf(counter))
    let after = 0
    while (!signal.aborted) {
      const [last] = await db.execute<{ id: string | null }>(sql`
        select max(${key}) as id from (
          select ${key} from ${sql.raw(table)} where ${key} > ${after} order by ${key} limit ${SLICE}) as slice`)
      if (last?.id == null) break
      const rows = await db.execute<{ id: string; was: number | boolean; is: number | boolean }>(sql`
        select own.${key} as id, ${sql.raw(`own.${column} as was, ${truth} as is from ${table} own`)}
        where own.${key} > ${after} and own.${key} <= ${Number(last.id)} and ${sql.raw(condition(counter))}
        order by own.${key}`)
      for (const { id, was, is } of rows) yield { table, column, id: Number(id), was, is }
      after = Number(last.id)
    }
  }
}

const keyOf = ({ table }: Pick<Counter, 'table'>): string => (table === 'repository_counters' ? 'repository_id' : 'id')

const condition = ({ column, truth, isWrong = '<>' }: Counter): string => `own.${column} ${isWrong} ${truth}`

/** Counts anew and stores that. Undefined when the number is right by now. */
export async function repairCounter(
  db: Context['db'],
  { table, column, id }: Pick<WrongCounter, 'table' | 'column' | 'id'>,
): Promise<Pick<WrongCounter, 'was' | 'is'> | undefined> {
  const counter = counters.find((one) => one.table === table && one.column === column)
  if (!counter) return undefined
  const own = sql.raw(`${table} own`)
  const key = keyOf(counter)
  const isOwn = sql`${sql.raw(`own.${key}`)} = ${id}`
  // Whoever changes the number holds the row. Counted only after the row is locked, in a statement that sees all before it.
  const [fixed] = await db.transaction(async (tx) => {
    await tx.execute(sql`select 1 from ${own} where ${isOwn} for no key update`)
    const before = sql.raw(`(SELECT ${column} FROM ${table} old WHERE old.${key} = own.${key})`)
    return tx.execute<Pick<WrongCounter, 'was' | 'is'>>(sql`
      update ${own} set ${sql.raw(`${column} = ${counter.truth}`)}
      where ${isOwn} and ${sql.raw(condition(counter))}
      returning ${before} as was, ${sql.raw(`own.${column}`)} as is`)
  })
  return fixed
}

/** Finds numbers that are not what they count, sets them right and says which were wrong. */
export async function checkCounters({ db, log }: Context, signal: AbortSignal): Promise<number> {
  let repaired = 0
  for await (const { table, column, id } of findWrongCounters(db, signal)) {
    const fixed = await repairCounter(db, { table, column, id })
    if (!fixed) continue
    repaired += 1
    log.warn({ table, column, id, was: fixed.was, is: fixed.is }, 'a counter was wrong and is repaired')
  }
  return repaired
}

export const statisticsTasks: readonly CronTask[] = [
  {
    name: 'check_repo_stats',
    schedule: '@midnight',
    description: 'Count stars, forks, issues and the like anew and repair the numbers that are wrong',
    async run(context, signal) {
      let repaired = await checkCounters(context, signal)
      for (const fact of repeatedFacts) {
        const wrong = await repairRepeated(context.db, fact)
        if (wrong > 0)
          context.log.warn({ fact: fact.subject, wrong }, 'rows that repeat others were wrong and are repaired')
        repaired += wrong
      }
      context.log.info({ repaired }, 'counters checked')
    },
  },
]
