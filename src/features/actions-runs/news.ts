import type { Channels } from '../../../db/channels.ts'

/** Tells who waits when something may have come. */
export interface News {
  /** Fulfilled by the next news. Asked for before a look, so that none falls between the two. */
  next(): Promise<void>
}

/** News of a channel. Listens from the first request on. */
export function newsOf(channels: Channels, channel: string): News {
  let news = Promise.withResolvers<void>()
  let isListening = false
  return {
    next() {
      if (!isListening) {
        isListening = true
        channels.listen(channel, () => {
          news.resolve()
          news = Promise.withResolvers<void>()
        })
      }
      return news.promise
    },
  }
}
