import type { Context } from '../../context.ts'
import { appendEvent } from '../../events/append.ts'
import type { NewEvent } from '../../events/catalogue.ts'
import { enqueueRefresh } from '../refs/refresh.ts'
import { insertPush, lockRepository, removePush } from '../refs/store.ts'
import { settleBranch } from './folder.ts'
import { countComingRefs, touchWiki } from './store.ts'

interface Beginning {
  repositoryId: number
  folderId: number
  pusherId: number
  /** Branches and tags that there will be more, at most. */
  newRefs: number
}

/**
 * Makes a push to a wiki known before Git may move a ref, as `beginPush` does for code: if the process dies, `repairPushes` does the
 * rest. The refs are counted on the disk, after the push is known: of two at the same instant each counts the other.
 */
export async function beginWikiPush(
  { db, git, config, clock }: Context,
  { repositoryId, folderId, pusherId, newRefs }: Beginning,
): Promise<{ pushId: number } | { fault: string }> {
  const pushId = await db.transaction(async (tx) => {
    // Also where the process dies, there is something to tidy up from here on.
    await touchWiki(tx, repositoryId, clock)
    return insertPush(tx, { repositoryId, pusherId, newRefs: Math.max(0, newRefs), isWiki: true, clock })
  })
  if (newRefs <= 0) return { pushId }
  const coming = await countComingRefs(db, repositoryId)
  const held = await git.listRefs(folderId, { limit: config.maxRefs + 1 })
  if (held.length + coming <= config.maxRefs) return { pushId }
  await removePush(db, pushId)
  return { fault: `a wiki may have ${config.maxRefs} branches and tags at most (MAX_REFS)` }
}

/** Records what follows from a change of a wiki: its size, and the event where there is one. Ends the intent. */
export async function finishWikiPush(
  context: Context,
  { repositoryId, folderId, pushId, event }: FinishedPush,
): Promise<void> {
  const { db, clock } = context
  await settleBranch(context, folderId)
  await db.transaction(async (tx) => {
    if (await lockRepository(tx, repositoryId)) {
      await touchWiki(tx, repositoryId, clock)
      await enqueueRefresh(tx, repositoryId)
      if (event) await appendEvent(tx, event)
    }
    if (pushId !== undefined) await removePush(tx, pushId)
  })
}

interface FinishedPush {
  repositoryId: number
  folderId: number
  /** Undefined where it is not known whether all has ended. */
  pushId?: number | undefined
  event?: NewEvent
}
