import type { Context } from '../context.ts'
import { coalesce } from '../kernel/coalesce.ts'
import { BATCH, fanOutBatch } from './fan-out.ts'
import type { Reaction } from './reaction.ts'

/** The channel that a trigger on `events` notifies (see db/README.md). */
const CHANNEL = 'hearth_events'

/**
 * An event that comes alone is fanned out at once. While they come in crowds the dispatcher rests between two looks: each look and each
 * job costs as much for one event as for a hundred.
 */
const CROWD = 4
const REST_MS = 250

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
  const stopped = Promise.withResolvers<void>()
  const looks = coalesce(async () => {
    try {
      let count = BATCH
      // What has come since the last full batch has its own wake, and may gather until then.
      while (count === BATCH) count = await fanOutBatch(db, reactions)
      if (count >= CROWD) await Promise.race([Bun.sleep(REST_MS), stopped.promise])
    } catch (err) {
      log.warn({ err }, 'events could not be fanned out; they wait in their table')
    }
  })
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
      stopped.resolve()
      await looks.stop()
    },
  }
}
