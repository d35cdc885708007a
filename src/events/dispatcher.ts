import type { Context } from '../context.ts'
import { fanOutBatch } from './fan-out.ts'
import type { Reaction } from './reaction.ts'

/** The channel that a trigger on `events` notifies (see db/migrations). */
const CHANNEL = 'hearth_events'

/** Long enough for the events of a burst to share a transaction, too short for anybody to notice. */
const GATHER_MS = 50

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
      await dispatch()
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

/** Runs `look` soon after a wake, never twice at once, and once more when woken meanwhile. */
function createLooker(look: () => Promise<void>) {
  let timer: Timer | undefined
  let running: Promise<void> | undefined
  let isWanted = false
  const run = async () => {
    do {
      isWanted = false
      await look()
    } while (isWanted)
    running = undefined
  }
  const wake = () => {
    isWanted = true
    if (running !== undefined || timer !== undefined) return
    timer = setTimeout(() => {
      timer = undefined
      running = run()
    }, GATHER_MS)
  }
  return {
    wake,
    async stop() {
      clearTimeout(timer)
      isWanted = false
      await running
    },
  }
}
