import type { UserRow } from '../../../db/schema/users.ts'
import { lockForBlocking } from '../../access/blocks.ts'
import { requireOwnedQuota } from '../../access/quota.ts'
import { recordAudit } from '../../audit/record.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { badRequest, notFound } from '../../kernel/errors.ts'
import { countBlocks, removeBlock, separate, upsertBlock } from './store.ts'

interface Blocking {
  /** The person or organization on whose list it is. */
  blocker: UserRow
  blocked: UserRow
  by: Actor
}

/** @throws Refusal 400 for oneself and for an organization, 422 for one too many */
export async function block({ db, config }: Context, { blocker, blocked, by }: Blocking, note: string): Promise<void> {
  if (blocked.id === blocker.id) throw badRequest('you cannot block yourself')
  if (blocked.kind !== 'user') throw badRequest('only people can be blocked')
  await db.transaction(async (tx) => {
    await lockForBlocking(tx, blocked.id)
    const isChanged = await upsertBlock(tx, { blockerId: blocker.id, blockedId: blocked.id, note })
    if (!isChanged) return
    await requireOwnedQuota(tx, config, {
      items: 'blocks',
      of: `account ${blocker.id}`,
      count: () => countBlocks(tx, blocker.id),
    })
    await separate(tx, blocker.id, blocked.id)
    const subject = { kind: 'block', id: blocked.id, name: blocked.name }
    await recordAudit(tx, by, { action: 'block.create', subject, after: { blocker: blocker.name, note } })
  })
}

/** @throws Refusal 404 when there was no such block */
export async function unblock({ db }: Context, { blocker, blocked, by }: Blocking): Promise<void> {
  await db.transaction(async (tx) => {
    if (!(await removeBlock(tx, blocker.id, blocked.id))) throw notFound()
    const subject = { kind: 'block', id: blocked.id, name: blocked.name }
    await recordAudit(tx, by, { action: 'block.delete', subject, before: { blocker: blocker.name } })
  })
}
