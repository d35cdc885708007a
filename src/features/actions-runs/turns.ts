import { and, asc, eq, lt, ne, notExists, or, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import { anyOf, arrayOf } from '../../../db/any-of.ts'
import type { Db } from '../../../db/client.ts'
import { CONCURRENCY_LOCK } from '../../../db/locks.ts'
import { type ActionsTurnRow, actionsTurns } from '../../../db/schema/actions.ts'
import type { Concurrency } from '../../actions/workflows/plan-model.ts'
import { planAllAgain, type Transition } from './transitions.ts'

// Turns in concurrency groups. Of a group in a repository one holder has the turn; the index says so, and the lock of the group keeps the
// line in order. Nobody changes another run: its turn is marked, and its next plan does the rest. So runs never wait for each other's rows.

/** Wire: groups have no letter case. */
export const nameOfGroup = ({ group }: Pick<Concurrency, 'group'>): string => group.toLowerCase()

export const listTurns = (db: Db, runId: number): Promise<ActionsTurnRow[]> =>
  db.select().from(actionsTurns).where(eq(actionsTurns.runId, runId)).orderBy(asc(actionsTurns.id))

/**
 * Holds the lines of these groups until the transaction ends. All that a transaction needs are held at once, in one order, and before it
 * asks for plans.
 */
export async function holdLines({ tx, place }: Transition, groups: Iterable<string>): Promise<void> {
  const names = [...new Set(groups)]
  if (names.length === 0) return
  await tx.execute(sql`
    select pg_advisory_xact_lock(${CONCURRENCY_LOCK}::int, line)
    from (select distinct hashtext(${place.run.repositoryId}::text || ' ' || name) as line
          from unnest(${arrayOf(names)}::text[]) as name order by 1) as lines`)
}

/** The same for all groups in which the run or its jobs wait or have the turn. */
export async function holdLinesOf(at: Transition): Promise<ActionsTurnRow[]> {
  const turns = await listTurns(at.tx, at.place.run.id)
  await holdLines(
    at,
    turns.map(({ groupName }) => groupName),
  )
  return turns
}

/**
 * Takes the turns that a run or a job needs, all or none. A new holder goes to the end of the line, and ousts there whom its group says.
 * The lines are held.
 * @param wake runs that have to be planned again because of it
 */
export async function takeTurns(at: Transition, wanted: readonly Concurrency[], wake: Set<number>): Promise<boolean> {
  if (wanted.length === 0) return true
  const ids: number[] = []
  for (const one of wanted) {
    const turn = (await findTurn(at, one)) ?? (await joinLine(at, one, wake))
    if (turn.isOusted) return false
    ids.push(turn.id)
  }
  const { tx } = at
  const ahead = alias(actionsTurns, 'ahead')
  const isAhead = and(
    eq(ahead.repositoryId, actionsTurns.repositoryId),
    eq(ahead.groupName, actionsTurns.groupName),
    ne(ahead.id, actionsTurns.id),
    or(eq(ahead.isHeld, true), and(eq(ahead.isOusted, false), lt(ahead.id, actionsTurns.id))),
  )
  const first = await tx
    .select({ id: actionsTurns.id })
    .from(actionsTurns)
    .where(and(anyOf(actionsTurns.id, ids), notExists(tx.select({ id: ahead.id }).from(ahead).where(isAhead))))
  if (first.length < ids.length) return false
  await tx.update(actionsTurns).set({ isHeld: true }).where(anyOf(actionsTurns.id, ids))
  return true
}

async function findTurn({ tx, place }: Transition, concurrency: Concurrency): Promise<ActionsTurnRow | undefined> {
  const [row] = await tx
    .select()
    .from(actionsTurns)
    .where(
      and(
        eq(actionsTurns.runId, place.run.id),
        eq(actionsTurns.holder, concurrency.holder),
        eq(actionsTurns.groupName, nameOfGroup(concurrency)),
      ),
    )
  return row
}

async function joinLine(
  { tx, place: { run } }: Transition,
  concurrency: Concurrency,
  wake: Set<number>,
): Promise<ActionsTurnRow> {
  const groupName = nameOfGroup(concurrency)
  const { holder, cancelInProgress, queue } = concurrency
  const inGroup = and(eq(actionsTurns.repositoryId, run.repositoryId), eq(actionsTurns.groupName, groupName))
  const ousted = await tx
    .update(actionsTurns)
    .set({ isOusted: true })
    .where(
      and(
        inGroup,
        eq(actionsTurns.isOusted, false),
        or(
          cancelInProgress ? eq(actionsTurns.isHeld, true) : undefined,
          queue === 'single' ? eq(actionsTurns.isHeld, false) : undefined,
        ) ?? sql`false`,
      ),
    )
    .returning({ runId: actionsTurns.runId })
  for (const { runId } of ousted) wake.add(runId)
  const [row] = await tx
    .insert(actionsTurns)
    .values({ repositoryId: run.repositoryId, groupName, runId: run.id, holder })
    .returning()
  if (!row) throw new Error('insert returned no row')
  return row
}

/** Gives turns up, and says which runs are next. The lines are held. */
export async function leaveTurns(
  { tx, place: { run } }: Transition,
  turns: readonly ActionsTurnRow[],
  wake: Set<number>,
): Promise<void> {
  if (turns.length === 0) return
  await tx.delete(actionsTurns).where(
    anyOf(
      actionsTurns.id,
      turns.map(({ id }) => id),
    ),
  )
  const next = await tx
    .selectDistinctOn([actionsTurns.groupName], { runId: actionsTurns.runId })
    .from(actionsTurns)
    .where(
      and(
        eq(actionsTurns.repositoryId, run.repositoryId),
        anyOf(
          actionsTurns.groupName,
          turns.map(({ groupName }) => groupName),
        ),
        eq(actionsTurns.isOusted, false),
      ),
    )
    .orderBy(actionsTurns.groupName, actionsTurns.id)
  for (const { runId } of next) wake.add(runId)
}

/** In the order of their numbers, as everybody asks for several plans. */
export const wakeRuns = (tx: Db, runs: Iterable<number>): Promise<void> =>
  planAllAgain(
    tx,
    [...runs].sort((one, other) => one - other),
  )
