import { and, eq, inArray } from 'drizzle-orm'
import type { Db } from '../../db/client.ts'
import { blocks } from '../../db/schema/users.ts'

interface Question {
  blockedId: number
  /** Any of them; null stands for an account that is gone. */
  blockerId: number | null | readonly (number | null)[]
}

/** Whether a person or an organization has blocked somebody: who is blocked may not follow, star, comment or take part. */
export async function isBlocked(db: Db, { blockerId, blockedId }: Question): Promise<boolean> {
  const blockerIds = [blockerId].flat().filter((id) => id !== null)
  if (blockerIds.length === 0) return false
  const [row] = await db
    .select({ blockerId: blocks.blockerId })
    .from(blocks)
    .where(and(eq(blocks.blockedId, blockedId), inArray(blocks.blockerId, blockerIds)))
    .limit(1)
  return row !== undefined
}
