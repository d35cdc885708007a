import { and, asc, inArray, isNull, sql } from 'drizzle-orm'
import { anyOf } from '../../db/any-of.ts'
import type { Db } from '../../db/client.ts'
import { FAN_OUT_LOCK } from '../../db/locks.ts'
import { type EventRow, events } from '../../db/schema/events.ts'
import type { Context } from '../context.ts'
import { enqueueJob, enqueueJobs } from '../jobs/enqueue.ts'
import type { JobHandlers } from '../jobs/handlers.ts'
import { eventCatalogue, type StoredEvent } from './catalogue.ts'
import type { Reaction } from './reaction.ts'
import { findEvents, readEvent } from './stored.ts'

/** Events of one transaction, and so of one job at most. */
export const BATCH = 200

/**
 * Turns the events that nobody has looked at into jobs for the reactions that want them, in one transaction: each event exactly
 * once. Events that arrive together share a job for each reaction and queue. The outbox costs one insert per event; a job for
 * each of them made creating an issue three times as dear.
 * @returns how many events there were; 0 also when another replica is at it
 */
export function fanOutBatch(db: Db, reactions: readonly Reaction[]): Promise<number> {
  return db.transaction(async (tx) => {
    const [lock] = await tx.execute<{ ours: boolean }>(sql`select pg_try_advisory_xact_lock(${FAN_OUT_LOCK}) as ours`)
    if (lock?.ours !== true) return 0
    // Kinds that this version does not know wait for the replica that does.
    const ours = and(isNull(events.fannedOutAt), inArray(events.kind, Object.keys(eventCatalogue)))
    const waiting = tx.select().from(events).where(ours).orderBy(asc(events.id)).limit(BATCH)
    const rows = await waiting.for('update', { skipLocked: true })
    if (rows.length === 0) return 0
    const jobs = jobsFor(rows, reactions)
    if (jobs.length > 0) await enqueueJobs(tx, 'events.react', jobs)
    const ids = rows.map(({ id }) => id)
    await tx.update(events).set({ fannedOutAt: sql`now()` }).where(anyOf(events.id, ids))
    return rows.length
  })
}

interface ReactionJob {
  payload: { reaction: string; eventIds: number[] }
  queue?: string
}

function jobsFor(rows: readonly EventRow[], reactions: readonly Reaction[]): ReactionJob[] {
  return reactions.flatMap((one) => {
    const wanted = rows.filter(({ kind }) => one.kinds.has(kind))
    const readable = wanted
      .map(readEvent)
      .filter((event) => event !== undefined)
      .filter(one.concerns)
    const queues = Map.groupBy(readable, (event) => one.queueOf(event))
    // What cannot be read fails in a job of its own, where it is seen and holds up nobody.
    const broken = wanted.filter((row) => readEvent(row) === undefined)
    const alone = broken.map(({ id }) => ({ payload: { reaction: one.name, eventIds: [id] } }))
    const together = [...queues].map(([queue, all]) => ({
      payload: { reaction: one.name, eventIds: all.map(({ id }) => id) },
      ...(queue === undefined ? {} : { queue }),
    }))
    return [...together, ...alone]
  })
}

/** The handler of the jobs that `fanOutBatch` writes. */
export function eventHandlers(reactions: readonly Reaction[]): Pick<JobHandlers, 'events.react'> {
  const byName = new Map(reactions.map((one) => [one.name, one]))
  if (byName.size < reactions.length) throw new Error('two reactions have the same name')
  return {
    async 'events.react'(context, { eventIds, reaction: name }, { signal }) {
      const wanted = byName.get(name)
      // During an upgrade: another replica knows it, and takes the next attempt.
      if (wanted === undefined) throw new Error(`this version has no reaction ${name}`)
      // Pruned events are left out: they waited longer than events are stored.
      const all = await findEvents(context.db, eventIds)
      await reactToEach(context, wanted, { all, signal })
    },
  }
}

/** False when the reaction takes events one by one, or could not take these together. */
async function reactedToAll(
  context: Context,
  wanted: Reaction,
  { all, signal }: { all: readonly StoredEvent[]; signal: AbortSignal },
): Promise<boolean> {
  if (wanted.reactToAll === undefined) return false
  try {
    await wanted.reactToAll(context, all, signal)
    return true
  } catch (err) {
    if (signal.aborted) throw err
    context.log.warn({ err, reaction: wanted.name }, 'a reaction failed for several events, and is tried for each')
    return false
  }
}

/** One event that fails must not hold up or repeat the others: it gets a job of its own. */
async function reactToEach(
  context: Context,
  wanted: Reaction,
  { all, signal }: { all: readonly StoredEvent[]; signal: AbortSignal },
): Promise<void> {
  if (all.length > 1 && (await reactedToAll(context, wanted, { all, signal }))) return
  for (const event of all) {
    try {
      await wanted.react(context, event, signal)
    } catch (err) {
      if (all.length === 1 || signal.aborted) throw err
      context.log.warn({ err, event: event.id, reaction: wanted.name }, 'a reaction failed, and is tried again alone')
      const payload = { reaction: wanted.name, eventIds: [event.id] }
      await enqueueJob(context.db, 'events.react', payload, { queue: wanted.queueOf(event) })
    }
  }
}
