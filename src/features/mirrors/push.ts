import type { PushMirrorRow } from '../../../db/schema/mirrors.ts'
import type { Context } from '../../context.ts'
import { isGitError } from '../../git/errors.ts'
import type { JobRun } from '../../jobs/handlers.ts'
import { readDiskRefs } from '../refs/disk.ts'
import { reasonOf } from './failure.ts'
import { openRemote } from './remote.ts'
import { nextTry, nextTurn } from './schedule.ts'
import { findPushMirror, updatePushMirror } from './store.ts'

/** Brings another server up to the repository. Once more changes nothing there. */
export async function pushToMirror(context: Context, mirrorId: number, run: JobRun): Promise<void> {
  const { db, clock } = context
  const mirror = await findPushMirror(db, mirrorId)
  if (!mirror) return
  await updatePushMirror(db, mirrorId, { attemptedAt: clock.now() })
  try {
    await push(context, mirror, run.signal)
  } catch (error) {
    // Deleted meanwhile.
    if (isGitError(error) && error.code === 'repository') return
    const reason = reasonOf(error)
    if (reason === undefined) throw error
    context.log.info({ mirrorId, reason, err: error }, 'a push mirror could not be brought up to its repository')
    return await record(context, mirrorId, { run, lastError: reason })
  }
  await record(context, mirrorId, { run, lastError: '' })
}

async function push(context: Context, mirror: PushMirrorRow, signal: AbortSignal): Promise<void> {
  const { git } = context
  // A repository that nobody has pushed to yet would empty the other one.
  if ((await readDiskRefs(git, mirror.repositoryId)).size === 0) return
  await git.pushRemote(mirror.repositoryId, await openRemote(context, mirror), { signal })
}

async function record(
  { db, clock }: Context,
  id: number,
  { run, lastError }: { run: JobRun; lastError: string },
): Promise<void> {
  await db.transaction(async (tx) => {
    await run.holdLease(tx)
    const mirror = await findPushMirror(tx, id)
    if (!mirror) return
    const now = clock.now()
    if (lastError === '') {
      const nextAt = nextTurn(now, mirror.intervalSeconds)
      return updatePushMirror(tx, id, { lastError, failures: 0, nextAt, lastUpdateAt: now })
    }
    const failures = mirror.failures + 1
    // One that works neither by the clock nor at a push waits for somebody who asks.
    const goesOn = mirror.intervalSeconds !== 0 || mirror.syncsOnCommit
    return updatePushMirror(tx, id, { lastError, failures, nextAt: goesOn ? nextTry(now, failures) : null })
  })
}
