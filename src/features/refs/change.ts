import type { Db } from '../../../db/client.ts'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import type { Context } from '../../context.ts'
import { isGitError } from '../../git/errors.ts'
import type { Pusher, RefChange } from '../../git/model.ts'
import { forbidden, invalid } from '../../kernel/errors.ts'
import { countExpectedRefs, insertPush, lockRepository, removePush } from './store.ts'
import { syncRefs } from './sync.ts'

interface Change {
  repositoryId: number
  pusher: { id: number }
  /** Branches and tags that there will be more. */
  newRefs?: number
  /** As `SyncOptions` has it. */
  isFirst?: boolean
}

/**
 * Runs whatever moves refs of a repository other than a client's push, with the same promises: an intent before, the rows and
 * events after, and `repairPushes` if the process dies between.
 * @param work returns, beside its result, the full names of the refs that it may have moved; without them all are compared
 * @throws Refusal 422 past MAX_REFS, before any work
 */
export async function recordPush<Result>(
  context: Context,
  { repositoryId, pusher, newRefs = 0, isFirst }: Change,
  work: () => Promise<{ refs?: readonly string[]; result: Result }>,
): Promise<Result> {
  const begun = await beginPush(context, { repositoryId, pusherId: pusher.id, newRefs })
  if ('fault' in begun) throw invalid(begun.fault)
  const { pushId } = begun
  const { refs, result } = await whileIntended(context.db, pushId, work)
  await syncRefs(context, repositoryId, pusher, { only: refs, pushId, isFirst })
  return result
}

/** Runs work that an intent stands for. Refused means that nothing moved; after any other failure the intent waits for the repair. */
export function whileIntended<Result>(db: Db, pushId: number, work: () => Promise<Result>): Promise<Result> {
  return work().catch(async (error: unknown) => {
    if (!isGitError(error) || REFUSED.has(error.kind)) await removePush(db, pushId)
    throw error
  })
}

const REFUSED: ReadonlySet<string> = new Set(['not-found', 'conflict', 'invalid', 'too-large', 'busy'])

/** The refs of a mirror are those of the server that it comes from. @throws Refusal 403 */
export function requireOwnRefs({ repository, fullName }: RepositoryAccess): void {
  if (repository.isMirror) throw forbidden(`${fullName} is a mirror`)
}

/** The pusher that the hooks of a repository learn of. */
export const pusherOf = ({ id, name }: { id: number; name: string }, repo: RepositoryAccess): Pusher => ({
  id,
  name,
  repository: { owner: repo.owner.name, name: repo.repository.name },
})

/** Moves refs all together or not at all. Throws as `Git.updateRefs`. @throws Refusal 422 past MAX_REFS */
export async function changeRefs(
  context: Context,
  change: Change & { pusher: Pusher },
  changes: RefChange[],
): Promise<void> {
  const made = changes.filter(({ old }) => old === null)
  const gone = changes.filter((move) => move.new === null)
  await recordPush(context, { ...change, newRefs: made.length - gone.length }, async () => {
    await context.git.updateRefs(change.repositoryId, changes, { pusher: change.pusher })
    return { refs: changes.map(({ ref }) => ref), result: undefined }
  })
}

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
