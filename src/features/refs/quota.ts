import type { Context } from '../../context.ts'
import { countExpectedRefs, insertPush, lockRepository } from './store.ts'

interface Beginning {
  repositoryId: number
  pusherId: number
  /** Branches and tags that there will be more, at most. */
  newRefs: number
}

/**
 * Makes a push known as `insertPush` does, or says why the repository may not have so many more branches and tags. Of two pushes at
 * the same instant the second counts what the first may make.
 */
export async function beginPush(
  { db, config, clock }: Context,
  push: Beginning,
): Promise<{ pushId: number } | { fault: string }> {
  const { repositoryId, newRefs } = push
  if (newRefs <= 0) return { pushId: await insertPush(db, { ...push, newRefs: 0, clock }) }
  return db.transaction(async (tx) => {
    await lockRepository(tx, repositoryId)
    if ((await countExpectedRefs(tx, repositoryId)) + newRefs > config.maxRefs)
      return { fault: `a repository may have ${config.maxRefs} branches and tags at most (MAX_REFS)` }
    return { pushId: await insertPush(tx, { ...push, clock }) }
  })
}
