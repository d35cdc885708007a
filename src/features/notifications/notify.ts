import type { Context } from '../../context.ts'
import { type Reaction, reaction } from '../../events/reaction.ts'
import { inParts, type NotifiedEvent, notifiedKinds, readNews } from './news.ts'
import { notifyReceivers } from './receivers.ts'

/** Queues that repositories share: one at a time of each, and one with a crowd of watchers holds up few others. */
const QUEUES = 16

/** People who are notified by one statement, which then takes a third of a second on a busy machine. */
const BATCH = 5000

/** Notifies those who follow an issue, or are called by name, of what happened to it. */
export const notificationFanOut: Reaction = reaction({
  name: 'notifications.tell',
  kinds: notifiedKinds,
  queueOf: ({ repositoryId }) => `notifications:${(repositoryId ?? 0) % QUEUES}`,
  react: (context, event, signal) => notify(context, [event], signal),
  reactToAll: (context, events, signal) => notify(context, events, signal),
})

/** In parts, each whole: who was notified by an attempt that then failed is not notified again. */
async function notify({ db, clock }: Context, events: readonly NotifiedEvent[], signal: AbortSignal): Promise<void> {
  for (const news of inParts(await readNews(db, events), BATCH)) {
    let after: { userId: number; issueId: number } | undefined
    do {
      signal.throwIfAborted()
      after = await notifyReceivers(db, news, { at: clock.now(), after, limit: BATCH })
    } while (after)
  }
}
