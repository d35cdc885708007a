import { findRepositoryById } from '../access/load.ts'
import { readWorkflowFiles } from '../actions/workflows/files.ts'
import type { Workflow } from '../actions/workflows/model.ts'
import type { Context } from '../context.ts'
import type { StoredEvent } from '../events/catalogue.ts'
import { type Reaction, reaction } from '../events/reaction.ts'
import { holdTip, keyOf, replaceStanding, type StandingTrigger } from '../features/actions-runs/standing-store.ts'
import { BRANCHES } from '../features/refs/names.ts'
import { queueOf } from './queue.ts'

/** Schedules of one repository, over all its workflows. Further ones are never due. */
const MAX_SCHEDULES = 100

/** Keeps what workflows of the default branch wait for. Also while the repository has no actions: it may have them again. */
export const keepStandingTriggers: Reaction = reaction({
  name: 'actions.keep_standing_triggers',
  kinds: ['push', 'repository.default_branch_changed'],
  queueOf,
  react,
})

/** What the branch says now counts, whatever it was when the event happened. */
async function react(
  context: Context,
  event: StoredEvent<'push' | 'repository.default_branch_changed'>,
): Promise<void> {
  const { db, git } = context
  const loaded = event.repositoryId === null ? undefined : await findRepositoryById(db, event.repositoryId, undefined)
  if (!loaded) return
  const { repository } = loaded
  const { id, defaultBranch } = repository
  if (event.kind === 'push' && event.payload.ref !== BRANCHES + defaultBranch) return
  const tip = await git.findBranch(id, defaultBranch)
  const wanted = tip ? await readStanding(context, id, tip.sha) : []
  await db.transaction(async (tx) => {
    // Of a tip that has moved on meanwhile another event tells.
    if (tip && !(await holdTip(tx, repository, tip.sha))) return
    await replaceStanding(tx, { repositoryId: id, actorId: event.actorId }, wanted)
  })
}

/** Files with problems wait for nothing. */
async function readStanding(
  { git, workflows, clock }: Context,
  repositoryId: number,
  sha: string,
): Promise<StandingTrigger[]> {
  const found: Omit<StandingTrigger, 'nextAt'>[] = []
  for (const { path, text } of await readWorkflowFiles(git, repositoryId, sha)) {
    const { workflow } = text === undefined ? {} : await workflows.read(text, path)
    if (workflow) found.push(...standingOf(workflow))
  }
  const different = [...new Map(found.map((one) => [keyOf(one), one])).values()]
  const schedules = different.filter(({ event }) => event === 'schedule').slice(0, MAX_SCHEDULES)
  const times = await workflows.nextTimes(schedules.map(scheduleOf), clock.now())
  return [
    ...schedules.map((one, index) => ({ ...one, nextAt: times[index] ?? null })),
    ...different.filter(({ event }) => event !== 'schedule').map((one) => ({ ...one, nextAt: null })),
  ]
}

function standingOf({ on }: Workflow): Omit<StandingTrigger, 'nextAt'>[] {
  const schedules = on.schedule.map(({ cron, timezone = '' }) => ({ event: 'schedule' as const, cron, timezone }))
  const waitsForRuns = Object.hasOwn(on.events, 'workflow_run')
  return waitsForRuns ? [...schedules, { event: 'workflow_run', cron: '', timezone: '' }] : schedules
}

/** As workflows have it: no time zone in place of an empty one. */
export const scheduleOf = ({ cron, timezone }: { cron: string; timezone: string }) => ({
  cron,
  timezone: timezone === '' ? undefined : timezone,
})
