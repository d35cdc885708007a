import type { Channels } from '../../../db/channels.ts'
import { QUEUED_CHANNEL } from '../actions-runs/channel.ts'

/** Tells requests that wait for work when some may have come. */
export interface QueuedNews {
  /** Fulfilled by the next news. Asked for before a look at the queue, so that none falls between the two. */
  next(): Promise<void>
}

/** Listens from the first request on. */
export function watchQueued(channels: Channels): QueuedNews {
  let news = Promise.withResolvers<void>()
  let isListening = false
  return {
    next() {
      if (!isListening) {
        isListening = true
        channels.listen(QUEUED_CHANNEL, () => {
          news.resolve()
          news = Promise.withResolvers<void>()
        })
      }
      return news.promise
    },
  }
}
