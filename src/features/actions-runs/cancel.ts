import type { RepositoryAccess } from '../../access/repository-access.ts'
import { recordAudit } from '../../audit/record.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { conflict } from '../../kernel/errors.ts'
import { followJobs } from './apply.ts'
import { endForRunner } from './end-for-runner.ts'
import { placeOf } from './place.ts'
import { getRun, unknownRun } from './service.ts'
import { listRunJobs, lockRun } from './store.ts'
import { lockTasksOfRun } from './tasks.ts'
import { cancelRun, endWaitingJobs, type Transition } from './transitions.ts'
import { holdLinesOf } from './turns.ts'

interface Change {
  actor: Actor
  repo: RepositoryAccess
}

/**
 * Asks a run to end: the next plan ends what waits, unless its `if` wants it even so, and runners are told to stop.
 * @throws Refusal 404, 409 when it is done
 */
export const cancel = (context: Context, change: Change, run: string): Promise<void> =>
  end(context, change, { run, action: 'actions_run.cancel' }, cancelRun)

/**
 * Ends a run at once, whatever its jobs and runners want. Runners learn it when they speak next; what they say then is not kept.
 * @throws Refusal 404, 409 when it is done
 */
export const forceCancel = (context: Context, change: Change, run: string): Promise<void> =>
  end(context, change, { run, action: 'actions_run.force_cancel' }, async (at) => {
    const { tx, place } = at
    await holdLinesOf(at)
    const jobs = await listRunJobs(tx, place.run.id)
    // First: a claim that is under way is waited for, and none can begin after this.
    await endWaitingJobs(
      at,
      jobs.map(({ id }) => id),
      { conclusion: 'cancelled' },
    )
    await cancelRun(at)
    for (const found of await lockTasksOfRun(tx, place.run.id))
      await endForRunner(context, at, found, { conclusion: 'cancelled', lastWord: 'The run was cancelled by force' })
    await followJobs(at, { id: place.run.id, isCancelled: true })
  })

async function end(
  context: Context,
  { actor, repo }: Change,
  { run: text, action }: { run: string; action: `actions_run.${string}` },
  change: (at: Transition) => Promise<void>,
): Promise<void> {
  const { run } = await getRun(context, repo, text)
  await context.db.transaction(async (tx) => {
    const locked = await lockRun(tx, run.id)
    if (!locked) throw unknownRun(run.id)
    if (locked.status === 'completed') throw conflict('this workflow run is done')
    await change({ tx, place: placeOf(context, { ...repo, run: locked }), now: context.clock.now() })
    await recordAudit(tx, actor, {
      action,
      subject: { kind: 'actions_run', id: run.id, name: run.title },
      after: { repositoryId: run.repositoryId, number: run.number },
    })
  })
}
