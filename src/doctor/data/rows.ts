import { lt, type SQL, sql } from 'drizzle-orm'
import { pushes } from '../../../db/schema/refs.ts'
import { repositoryReservations } from '../../../db/schema/repositories.ts'
import { countRepeated, repairRepeated, repeatedFacts } from '../../features/admin/repeated.ts'
import { findWrongCounters, repairCounter } from '../../features/admin/statistics.ts'
import { longestPushSeconds, repairPushes } from '../../features/refs/repair.ts'
import { removeOrphanFolders } from '../../features/repository-maintenance/orphans.ts'
import { listFailedJobs, retryFailedJob } from '../../jobs/failures.ts'
import { type DataCheck, settle } from './check.ts'

const ago = ({ context }: DataCheck, seconds: number) => new Date(context.clock.now().getTime() - seconds * 1000)

/** Pushes and creations that ended without their bookkeeping. A running server finds them too, each minute and every ten. */
export async function checkUnfinished(check: DataCheck): Promise<void> {
  const { context, signal } = check
  const { db, config } = context
  const old = lt(pushes.createdAt, ago(check, longestPushSeconds(config)))
  const open = await db.$count(pushes, old)
  if (open > 0)
    await settle(check, {
      subject: 'Pushes',
      detail: `${open} began longer ago than a push may take, and did not end`,
      remedy: 'start the server, which looks after them each minute',
      repair: { how: 'records what they have changed', run: () => repairPushes(context, signal) },
    })
  const creations = await countAbandoned(check)
  if (creations > 0)
    await settle(check, {
      subject: 'Creations',
      detail: `${creations} were interrupted`,
      remedy: 'start the server, which removes what they left',
      repair: { how: 'removes their folders', run: () => removeOrphanFolders(context, signal) },
    })
}

/** Those whose transaction is over: one that goes on holds its row. */
async function countAbandoned(check: DataCheck): Promise<number> {
  const { db } = check.context
  return db.transaction(async (tx) => {
    const rows = await tx
      .select({ id: repositoryReservations.id })
      .from(repositoryReservations)
      .where(lt(repositoryReservations.createdAt, ago(check, 60)))
      .for('update', { skipLocked: true })
    return rows.length
  })
}

export async function checkCounters(check: DataCheck): Promise<void> {
  const { context, signal } = check
  check.progress('counting anew')
  for await (const { table, column, id, was, is } of findWrongCounters(context.db, signal)) {
    await settle(check, {
      subject: `${table} ${id}`,
      detail: `${column} is ${was}, not ${is}`,
      remedy: '',
      repair: { how: 'counts it anew', run: () => repairCounter(context.db, { table, column, id }) },
    })
  }
  for (const fact of repeatedFacts) {
    const wrong = await countRepeated(context.db, fact)
    if (wrong === 0) continue
    const repair = { how: 'derives them anew', run: () => repairRepeated(context.db, fact) }
    await settle(check, { subject: fact.subject, detail: `${wrong} are wrong or missing`, remedy: '', repair })
  }
}

/** Numbers given out must be above those in use, which a restore by hand may have forgotten. */
export async function checkSequences(check: DataCheck): Promise<void> {
  const { db } = check.context
  const tables = await db.execute<{ name: string; sequence: string }>(sql`
    select own.relname as name, sequence.oid::regclass::text as sequence
    from pg_class own
    join pg_attribute id on id.attrelid = own.oid and id.attname = 'id'
    join pg_depend needs on needs.refobjid = own.oid and needs.refobjsubid = id.attnum
      and needs.classid = 'pg_class'::regclass and needs.deptype in ('a', 'i')
    join pg_class sequence on sequence.oid = needs.objid and sequence.relkind = 'S'
    where own.relnamespace = current_schema()::regnamespace
    order by 1`)
  for (const { name, sequence } of tables) {
    const [ends] = await db.execute<{ top: string | null; last: string }>(sql`
      select ${topOf(name)} as top, last_value as last from ${sql.raw(sequence)}`)
    const [top, last] = [Number(ends?.top ?? 0), Number(ends?.last)]
    if (top <= last) continue
    await settle(check, {
      subject: name,
      detail: `the next number would be ${last + 1}, but ${top} is in use`,
      remedy: '',
      repair: {
        how: 'goes on above the highest',
        run: () => db.execute(sql`select setval(${sequence}::text::regclass, ${topOf(name)})`),
      },
    })
  }
}

/** Folders of wikis are numbered like repositories. */
const topOf = (table: string): SQL =>
  table === 'repositories'
    ? sql`greatest((select max(id) from repositories), (select max(folder_id) from wikis))`
    : sql`(select max(id) from ${sql.identifier(table)})`

const MAX_JOBS = 1000

/** Jobs that were tried as often as they may be. */
export async function checkJobs(check: DataCheck): Promise<void> {
  const { db } = check.context
  const failed = await listFailedJobs(db, { limit: MAX_JOBS })
  for (const { id, name, lastError, nextAttemptAt } of failed) {
    if (nextAttemptAt !== null) continue
    await settle(check, {
      subject: `Job ${id}`,
      detail: `${name} failed for good: ${lastError.split('\n')[0] ?? ''}`,
      remedy: 'fix its cause first; it is forgotten after 30 days',
      repair: { how: 'lets the server try it again', run: () => retryFailedJob(db, id) },
    })
  }
}
