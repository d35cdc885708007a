import { and, eq } from 'drizzle-orm'
import type { Db } from '../../db/client.ts'
import { blocks } from '../../db/schema/users.ts'

/** Whether a person or an organization has blocked somebody: who is blocked may not follow, star, comment or take part. */
export async function isBlocked(
  db: Db,
  { blockerId, blockedId }: { blockerId: number; blockedId: number },
): Promise<boolean> {
  const [row] = await db
    .select({ blockerId: blocks.blockerId })
    .from(blocks)
    .where(and(eq(blocks.blockerId, blockerId), eq(blocks.blockedId, blockedId)))
  return row !== undefined
}
