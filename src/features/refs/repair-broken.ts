import { and, desc, eq, sql } from 'drizzle-orm'
import { events } from '../../../db/schema/events.ts'
import type { Context } from '../../context.ts'
import type { BrokenRef } from '../../git/repair.ts'
import { loadRows } from './store.ts'

/** Pushes of one ref that are looked back over. */
const MAX_PUSHES = 50

export interface RepairedRefs {
  /** As `refs/heads/main was <id> and is <id>`. */
  repaired: string[]
  /** Names of those for which no whole state is known; they are as they were. */
  lost: string[]
}

/**
 * Sets each ref whose objects are not all there back to the newest state that is whole: what its row says, else what the events of its
 * pushes tell. A copy that was made while somebody pushed has such refs. Whoever has the newer state can then push it again, which they
 * could not while the ref names it.
 */
export async function repairBrokenRefs(context: Context, id: number, signal: AbortSignal): Promise<RepairedRefs> {
  const { git } = context
  const found: RepairedRefs = { repaired: [], lost: [] }
  for (const broken of await git.repair.listBrokenRefs(id, { signal })) {
    const { name, sha: was = 'unreadable' } = broken
    const state = await findWholeState(context, { id, broken, signal })
    if (state === undefined) {
      found.lost.push(name)
      continue
    }
    await git.repair.replaceRef(id, name, state === 'none' ? undefined : state)
    found.repaired.push(`${name} was ${was} and is ${state}`)
  }
  return found
}

interface Search {
  id: number
  broken: BrokenRef
  signal: AbortSignal
}

/** `none`: there was no such ref. */
async function findWholeState(context: Context, { id, broken, signal }: Search): Promise<string | undefined> {
  const { git, db } = context
  const states = [...(await loadRows(db, id, [broken.name])).values(), ...(await listPushed(context, id, broken))]
  for (const state of new Set(states)) {
    if (!/^0+$/.test(state)) {
      if (state !== broken.sha && (await git.repair.isWhole(id, state, { signal }))) return state
      continue
    }
    // Only what came and did not get into the copy is as if it had not been: of damage inside, people save what they can.
    const isThere = broken.sha !== undefined && (await git.find(id, broken.sha, { signal })) !== undefined
    return isThere ? undefined : 'none'
  }
  return undefined
}

/** What the ref held, the newest first. */
async function listPushed({ db }: Context, id: number, { name }: BrokenRef): Promise<string[]> {
  const field = (key: string) => sql<string>`${events.payload} ->> ${key}::text`
  const rows = await db
    .select({ oldSha: field('oldSha'), newSha: field('newSha') })
    .from(events)
    .where(and(eq(events.repositoryId, id), eq(events.kind, 'push'), sql`${field('ref')} = ${name}::text`))
    .orderBy(desc(events.id))
    .limit(MAX_PUSHES)
  return rows.flatMap(({ oldSha, newSha }) => [newSha, oldSha])
}
