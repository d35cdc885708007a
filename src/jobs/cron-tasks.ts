import { and, asc, eq, exists, gt, lt, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import { type CronTaskRow, cronTasks, cronTicks } from '../../db/schema/cron.ts'
import type { Context } from '../context.ts'
import { notFound } from '../kernel/errors.ts'
import { messageOf } from '../kernel/thrown.ts'
import { enqueueJob } from './enqueue.ts'
import type { JobHandlers } from './handlers.ts'
import { parseSchedule } from './schedule.ts'

/** One periodic task. Features declare theirs, src/app puts them into one table. */
export interface CronTask {
  /** Gitea's name where Gitea has such a task. */
  name: string
  /** As `parseSchedule` reads it, and as administrators see it. */
  schedule: string
  /** What it does, in one sentence. */
  description: string
  /** May run more than once for a tick. Ends soon after the signal fires; what is left over is done by the next run. */
  run(context: Context, signal: AbortSignal): Promise<void>
}

export interface CronTaskStatus {
  name: string
  schedule: string
  description: string
  next: Date
  /** Start of the last run; null when there was none. */
  prev: Date | null
  execTimes: number
  /** Why the last run failed; null when it did not. */
  lastError: string | null
}

type Store = Pick<Context, 'db' | 'clock'>

/** Below the jobs that people wait for. */
const PRIORITY = 10

/** All tasks of the running version, by name. */
export async function listCronTasks({ db, clock }: Store): Promise<CronTaskStatus[]> {
  const now = clock.now()
  const rows = await db.select().from(cronTasks).where(eq(cronTasks.isActive, true)).orderBy(asc(cronTasks.name))
  return rows.map(({ name, schedule, description, execTimes, lastError, lastStartedAt }) => ({
    name,
    schedule,
    description,
    next: parseSchedule(schedule).next(now),
    prev: lastStartedAt,
    execTimes,
    lastError,
  }))
}

/** Enqueues one run, after the one that may be going on. Refuses an unknown name with 404. */
export async function runCronTaskNow({ db }: Pick<Context, 'db'>, name: string): Promise<void> {
  const [row] = await db
    .select({ name: cronTasks.name })
    .from(cronTasks)
    .where(and(eq(cronTasks.name, name), eq(cronTasks.isActive, true)))
  if (row === undefined) throw notFound()
  await enqueueRun(db, row.name)
}

/** Makes the rows of `cron_tasks` those of this version; counters stay. */
export async function registerCronTasks({ db }: Pick<Context, 'db'>, tasks: readonly CronTask[]): Promise<void> {
  const values = tasks.map(({ name, schedule, description }) => ({ name, schedule, description, isActive: true }))
  await db.transaction(async (tx) => {
    // Replicas that start together take the rows one after the other.
    await tx.execute(sql`lock table ${cronTasks} in share row exclusive mode`)
    await tx.update(cronTasks).set({ isActive: false })
    if (values.length === 0) return
    await tx
      .insert(cronTasks)
      .values(values)
      .onConflictDoUpdate({
        target: cronTasks.name,
        set: { schedule: sql`excluded.schedule`, description: sql`excluded.description`, isActive: true },
      })
  })
}

/** Whether this replica is the one that won the tick, and has enqueued its run. */
export async function claimTick({ db }: Pick<Context, 'db'>, task: string, dueAt: Date): Promise<boolean> {
  return db.transaction(async (tx) => {
    const won = await tx.insert(cronTicks).values({ task, dueAt }).onConflictDoNothing().returning()
    if (won.length === 0) return false
    await enqueueRun(tx, task)
    return true
  })
}

/** The last tick of each task that is not in the future, which a clock gone wrong may have written. */
export async function lastTicks({ db, clock }: Store): Promise<ReadonlyMap<string, Date>> {
  const rows = await db
    .select({ task: cronTicks.task, dueAt: sql<string>`max(${cronTicks.dueAt})` })
    .from(cronTicks)
    .where(sql`${cronTicks.dueAt} <= ${clock.now().toISOString()}::text::timestamptz`)
    .groupBy(cronTicks.task)
  return new Map(rows.map(({ task, dueAt }) => [task, new Date(dueAt)]))
}

/** Forgets ticks claimed before `before`, but not the last of each task; returns how many. */
export async function removeOldTicks(db: Context['db'], before: Date): Promise<number> {
  const newer = alias(cronTicks, 'newer')
  const later = db
    .select({ task: newer.task })
    .from(newer)
    .where(and(eq(newer.task, cronTicks.task), gt(newer.dueAt, cronTicks.dueAt)))
  const gone = await db.delete(cronTicks).where(and(lt(cronTicks.claimedAt, before), exists(later)))
  return gone.count
}

/** One waits at most (the key), one runs at most (the queue). */
function enqueueRun(db: Context['db'], task: string): Promise<void> {
  return enqueueJob(db, 'cron.run', { task }, { queue: `cron:${task}`, key: `cron:${task}`, priority: PRIORITY })
}

/** Runs a task that a tick or an administrator asked for, and keeps its record. */
export function cronHandlers(tasks: readonly CronTask[]): Pick<JobHandlers, 'cron.run'> {
  const byName = new Map(tasks.map((task) => [task.name, task]))
  return {
    async 'cron.run'(context, { task: name }, { signal, holdLease }) {
      const task = byName.get(name)
      // During an upgrade: another replica knows it, and takes the next attempt.
      if (task === undefined) throw new Error(`this version has no periodic task ${name}`)
      const { db, clock } = context
      // Another attempt, which took over meanwhile, keeps the record then.
      const record = (values: Partial<CronTaskRow>) =>
        db.transaction(async (tx) => {
          await holdLease(tx)
          await tx.update(cronTasks).set(values).where(eq(cronTasks.name, name))
        })
      const started = { execTimes: sql`${cronTasks.execTimes} + 1`, lastStartedAt: clock.now(), lastError: null }
      await db.update(cronTasks).set(started).where(eq(cronTasks.name, name))
      try {
        await task.run(context, signal)
      } catch (error) {
        await record({ lastError: messageOf(error), lastFailedAt: clock.now() })
        throw error
      }
      await record({ lastFinishedAt: clock.now() })
    },
  }
}
