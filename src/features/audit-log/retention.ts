import { sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import type { CronTask } from '../../jobs/cron-tasks.ts'

const DAY_MS = 86_400_000

/** Makes the partitions of this month and the next two. */
export async function ensureAuditPartitions(db: Db, now: Date): Promise<void> {
  await db.execute(sql`select ensure_audit_partitions(${now.toISOString()}::timestamptz)`)
}

/**
 * Drops the months that ended before a time, and deletes what the default partition holds of them. A month stays until its last day is
 * old enough.
 * @returns the names of the partitions that are gone
 */
export async function dropOldAuditEntries(db: Db, before: Date): Promise<string[]> {
  const partitions = await db.execute<{ name: string }>(sql`
    select child.relname as name from pg_inherits
    join pg_class child on child.oid = pg_inherits.inhrelid
    where pg_inherits.inhparent = 'audit_entries'::regclass and child.relname ~ '^audit_entries_\\d{4}_\\d{2}$'
    order by 1`)
  const old = partitions.map(({ name }) => name).filter((name) => endOf(name) <= before)
  for (const name of old) await db.execute(sql`drop table if exists ${sql.identifier(name)}`)
  await db.transaction(async (tx) => {
    await tx.execute(sql`set local hearth.audit_retention = 'on'`)
    await tx.execute(sql`delete from audit_entries_default where created_at < ${before.toISOString()}::timestamptz`)
  })
  return old
}

/** The first moment after the month of a partition. */
function endOf(name: string): Date {
  const [year = 0, month = 0] = name.slice('audit_entries_'.length).split('_').map(Number)
  return new Date(Date.UTC(year, month, 1))
}

export const auditTasks: readonly CronTask[] = [
  {
    name: 'delete_old_audit_entries',
    schedule: '@midnight',
    description: 'Make the next months of the audit trail, and drop those older than AUDIT_RETENTION_DAYS',
    async run({ db, clock, config, log }) {
      const now = clock.now()
      await ensureAuditPartitions(db, now)
      const dropped = await dropOldAuditEntries(db, new Date(now.getTime() - config.auditRetentionDays * DAY_MS))
      log.info({ dropped }, 'audit trail kept within its time')
    },
  },
]
