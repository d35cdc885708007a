import type { Context } from '../../context.ts'
import { type Reaction, reaction } from '../../events/reaction.ts'
import { inParts, readNews, type ToldEvent, toldKinds } from './news.ts'
import { tellReceivers } from './receivers.ts'

/** Queues that repositories share: one at a time of each, and one with a crowd of watchers holds up few others. */
const QUEUES = 16

/** People who are told by one statement, which then takes a third of a second on a busy machine. */
const BATCH = 5000

/** Tells those who follow an issue, or are called by name, of what happened to it. */
export const notificationFanOut: Reaction = reaction({
  name: 'notifications.tell',
  kinds: toldKinds,
  queueOf: ({ repositoryId }) => `notifications:${(repositoryId ?? 0) % QUEUES}`,
  react: (context, event, signal) => tell(context, [event], signal),
  reactToAll: (context, events, signal) => tell(context, events, signal),
})

/** In parts, each whole: who was told by an attempt that ended in between is not told again. */
async function tell({ db, clock }: Context, events: readonly ToldEvent[], signal: AbortSignal): Promise<void> {
  for (const news of inParts(await readNews(db, events), BATCH)) {
    let after: { userId: number; issueId: number } | undefined
    do {
      signal.throwIfAborted()
      after = await tellReceivers(db, news, { at: clock.now(), after, limit: BATCH })
    } while (after)
  }
}
