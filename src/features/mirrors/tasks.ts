import type { Context } from '../../context.ts'
import { type Reaction, reaction } from '../../events/reaction.ts'
import type { CronTask } from '../../jobs/cron-tasks.ts'
import type { JobHandlers } from '../../jobs/handlers.ts'
import { enqueuePulls, enqueuePushes } from './enqueue.ts'
import { pullMirror } from './pull.ts'
import { pushToMirror } from './push.ts'
import { listPushMirrorIds, takeDuePulls, takeDuePushes } from './store.ts'

export const mirrorHandlers: Pick<JobHandlers, 'mirrors.pull' | 'mirrors.push'> = {
  'mirrors.pull': (context, { repositoryId }, run) => pullMirror(context, repositoryId, run),
  'mirrors.push': (context, { mirrorId }, run) => pushToMirror(context, mirrorId, run),
}

/** Of each kind in one run; the rest is due a minute later. */
const BATCH = 1000
const DAY_MS = 24 * 3600 * 1000

async function enqueueDue({ db, clock }: Context): Promise<void> {
  const now = clock.now()
  const due = { now, again: new Date(now.getTime() + DAY_MS), limit: BATCH }
  await db.transaction(async (tx) => enqueuePulls(tx, await takeDuePulls(tx, due)))
  await db.transaction(async (tx) => enqueuePushes(tx, await takeDuePushes(tx, due)))
}

export const mirrorTasks: readonly CronTask[] = [
  {
    name: 'update_mirrors',
    schedule: '@every 1m',
    description: 'Bring mirrors up to date whose time has come',
    run: enqueueDue,
  },
]

/** Queues that repositories share. */
const QUEUES = 4

/** Pushes to those mirrors that follow each push. However many pushes came, one job for each mirror waits. */
export const pushOnCommit: Reaction = reaction({
  name: 'mirrors.push_on_commit',
  kinds: ['push'],
  queueOf: ({ repositoryId }) => `mirrors.on_commit:${(repositoryId ?? 0) % QUEUES}`,
  react: (context, { repositoryId }) => enqueueFollowers(context, [repositoryId]),
  reactToAll: (context, events) =>
    enqueueFollowers(
      context,
      events.map(({ repositoryId }) => repositoryId),
    ),
})

async function enqueueFollowers({ db }: Context, repositoryIds: readonly (number | null)[]): Promise<void> {
  const ids = [...new Set(repositoryIds.filter((id) => id !== null))]
  await enqueuePushes(db, await listPushMirrorIds(db, ids, { onCommitOnly: true }))
}
