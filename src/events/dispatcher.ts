import type { Context } from '../context.ts'
import { coalesce } from '../kernel/coalesce.ts'
import { BATCH, fanOutBatch } from './fan-out.ts'
import type { Reaction } from './reaction.ts'

/** The channel that a trigger on `events` notifies (see db/README.md). */
const CHANNEL = 'hearth_events'

/**
 * `gatherMs`: long enough for the events of a burst to share a transaction, too short for anybody to notice. `restMs`: while events
 * keep coming, each look and each job costs as much for one event as for a hundred.
 */
const PAUSES = { gatherMs: 50, restMs: 250 }

/** A notification may get lost with its connection; then the next look finds the events. */
const LOOK_EVERY_MS = 5000

export interface Dispatcher {
  /** Fans out all that waits. */
  dispatch(): Promise<void>
  start(): void
  stop(): Promise<void>
}

/** Watches the outbox of events and fans out what appears in it. */
export function createDispatcher(
  { db, log, channels }: Pick<Context, 'db' | 'log' | 'channels'>,
  reactions: readonly Reaction[],
): Dispatcher {
  const looks = coalesce(async () => {
    try {
      // What has come since the last full batch has its own wake, and may gather until then.
      while ((await fanOutBatch(db, reactions)) === BATCH);
    } catch (err) {
      log.warn({ err }, 'events could not be fanned out; they wait in their table')
    }
  }, PAUSES)
  let unlisten: (() => void) | undefined
  let timer: Timer | undefined
  return {
    async dispatch() {
      while ((await fanOutBatch(db, reactions)) > 0);
    },
    start() {
      unlisten = channels.listen(CHANNEL, looks.wake)
      timer = setInterval(looks.wake, LOOK_EVERY_MS)
      looks.wake()
    },
    async stop() {
      clearInterval(timer)
      unlisten?.()
      await looks.stop()
    },
  }
}
