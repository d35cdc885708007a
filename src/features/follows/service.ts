import type { UserRow } from '../../../db/schema/users.ts'
import { isBlockedInside } from '../../access/blocks.ts'
import type { Context } from '../../context.ts'
import { forbidden } from '../../kernel/errors.ts'
import { insertFollow } from './store.ts'

/** Following oneself, or again, changes nothing. @throws Refusal 403 when the other has blocked the follower */
export async function follow({ db }: Context, follower: UserRow, followed: UserRow): Promise<void> {
  if (follower.id === followed.id) return
  await db.transaction(async (tx) => {
    if (await isBlockedInside(tx, { blockerId: followed.id, blockedId: follower.id }))
      throw forbidden('user is blocked by the user to follow')
    await insertFollow(tx, follower.id, followed.id)
  })
}
