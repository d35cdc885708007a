import { and, eq, sql } from 'drizzle-orm'
import { anyOf } from '../../db/any-of.ts'
import type { Db } from '../../db/client.ts'
import { BLOCKS_LOCK } from '../../db/locks.ts'
import { blocks } from '../../db/schema/users.ts'

interface Question {
  blockedId: number
  /** Any of them; null stands for an account that is gone. */
  blockerId: number | null | readonly (number | null)[]
}

const keyOf = (blockedId: number) => sql`${BLOCKS_LOCK}::integer, (${blockedId}::bigint % 2147483647)::integer`

/** Keeps those out who act under `isBlockedInside` as this person, until the transaction ends. */
export async function lockForBlocking(tx: Db, blockedId: number): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(${keyOf(blockedId)})`)
}

/**
 * As `isBlocked`, inside the transaction of what a block keeps out: a block made at the same moment waits for its end, and then takes
 * back what blocks take back. What follows a block is refused.
 */
export async function isBlockedInside(tx: Db, question: Question): Promise<boolean> {
  await tx.execute(sql`select pg_advisory_xact_lock_shared(${keyOf(question.blockedId)})`)
  return isBlocked(tx, question)
}

/** Whether a person or an organization has blocked somebody: who is blocked may not follow, star, comment or take part. */
export async function isBlocked(db: Db, { blockerId, blockedId }: Question): Promise<boolean> {
  const blockerIds = [blockerId].flat().filter((id) => id !== null)
  if (blockerIds.length === 0) return false
  const [row] = await db
    .select({ blockerId: blocks.blockerId })
    .from(blocks)
    .where(and(eq(blocks.blockedId, blockedId), anyOf(blocks.blockerId, blockerIds)))
    .limit(1)
  return row !== undefined
}
