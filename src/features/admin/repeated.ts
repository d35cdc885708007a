import { type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import type { Context } from '../../context.ts'

/** Rows that say what others say already, so that reading is quick; triggers and services keep them equal. */
export interface RepeatedFact {
  subject: string
  /** One row for each that is wrong, in one statement, so that it is true of one moment. */
  wrong: SQL
  /** Tables that nobody may write while it is repaired, and what repairs it. */
  locks: SQL
  repair: readonly SQL[]
}

const sort = sql.raw('owner_visibility, is_private, is_archived, is_template, is_fork, is_mirror')
const totals = sql`
  select ${sort}, coalesce(counted.number, 0) - coalesce(kept.number, 0) as step
  from (
    select users.visibility as owner_visibility, is_private, is_archived, is_template, is_fork, is_mirror, count(*) as number
    from repositories join users on users.id = owner_id group by 1, 2, 3, 4, 5, 6) as counted
  full join (select ${sort}, sum(repositories) as number from repository_totals group by ${sort}) as kept using (${sort})
  where coalesce(counted.number, 0) <> coalesce(kept.number, 0)`

const missingMembers = sql`
  select organization_id, user_id from team_members except select organization_id, user_id from organization_members`
const strayMembers = sql`
  select organization_id, user_id from organization_members except select organization_id, user_id from team_members`

export const repeatedFacts: readonly RepeatedFact[] = [
  {
    subject: 'Sums of repositories',
    wrong: totals,
    locks: sql`lock table repository_totals in share row exclusive mode`,
    repair: [sql`insert into repository_totals (${sort}, repositories) ${totals}`],
  },
  {
    subject: 'Members of organizations',
    wrong: sql`(${missingMembers}) union all (${strayMembers})`,
    locks: sql`lock table team_members, organization_members in share row exclusive mode`,
    repair: [
      sql`insert into organization_members (organization_id, user_id) ${missingMembers}`,
      sql`delete from organization_members where (organization_id, user_id) in (${strayMembers})`,
    ],
  },
  {
    subject: 'Topics',
    wrong: sql`select distinct unnest(topics) as name from repositories except select name from topics`,
    locks: sql`lock table topics in share row exclusive mode`,
    repair: [
      sql`insert into topics (name) select distinct unnest(topics) from repositories except select name from topics`,
    ],
  },
]

/** How many are wrong. */
export async function countRepeated(db: Db, { wrong }: RepeatedFact): Promise<number> {
  const [row] = await db.execute<{ number: number }>(sql`select count(*)::int as number from (${wrong}) as wrong`)
  return row?.number ?? 0
}

/** Sets right what is wrong, and returns how many were. Locks nothing while all is well. */
export async function repairRepeated(db: Context['db'], fact: RepeatedFact): Promise<number> {
  if ((await countRepeated(db, fact)) === 0) return 0
  return db.transaction(async (tx) => {
    await tx.execute(fact.locks)
    const wrong = await countRepeated(tx, fact)
    for (const step of fact.repair) await tx.execute(step)
    return wrong
  })
}
