import type { Context } from '../context.ts'
import { BATCH, fanOutBatch } from './fan-out.ts'
import type { Reaction } from './reaction.ts'

/** The channel that a trigger on `events` notifies (see db/migrations). */
const CHANNEL = 'hearth_events'

/** Long enough for the events of a burst to share a transaction, too short for anybody to notice. */
const GATHER_MS = 50

/** From one look to the next while events keep coming: each look and each job costs as much for one event as for a hundred. */
const REST_MS = 250

/** A notification may get lost with its connection; then the next look finds the events. */
const LOOK_EVERY_MS = 5000

export interface Dispatcher {
  /** Fans out all that waits. */
  dispatch(): Promise<void>
  start(): Promise<void>
  stop(): Promise<void>
}

type DispatcherContext = Pick<Context, 'db' | 'sql' | 'log'>

/** Watches the outbox of events and fans out what appears in it. */
export function createDispatcher(context: DispatcherContext, reactions: readonly Reaction[]): Dispatcher {
  const { db, log } = context
  const dispatch = async () => {
    while ((await fanOutBatch(db, reactions)) > 0);
  }
  const looker = createLooker(async () => {
    try {
      // What has come since the last full batch has its own wake, and may gather until then.
      while ((await fanOutBatch(db, reactions)) === BATCH);
    } catch (err) {
      log.warn({ err }, 'events could not be fanned out; they wait in their table')
    }
  })
  let listening: { unlisten(): Promise<void> } | undefined
  let timer: Timer | undefined
  return {
    dispatch,
    async start() {
      listening = await context.sql.listen(CHANNEL, looker.wake, looker.wake)
      timer = setInterval(looker.wake, LOOK_EVERY_MS)
    },
    async stop() {
      clearInterval(timer)
      await listening?.unlisten()
      await looker.stop()
    },
  }
}

/** Runs `look` soon after a wake, never twice at once, and once more when woken meanwhile, but not before a rest. */
function createLooker(look: () => Promise<void>) {
  let timer: Timer | undefined
  let running: Promise<void> | undefined
  let isWanted = false
  let isStopped = false
  const later = (milliseconds: number) => {
    timer = setTimeout(() => {
      timer = undefined
      if (isWanted) running = run()
    }, milliseconds)
  }
  const run = async () => {
    isWanted = false
    await look()
    running = undefined
    if (!isStopped) later(REST_MS)
  }
  return {
    wake() {
      isWanted = true
      if (running === undefined && timer === undefined) later(GATHER_MS)
    },
    async stop() {
      isStopped = true
      clearTimeout(timer)
      await running
    },
  }
}
