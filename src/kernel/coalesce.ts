export interface Coalesced {
  /** Asks for a run. Many calls before it begins ask for one run. */
  wake(): void
  /** The run that is going on; undefined when there is none. */
  readonly current: Promise<void> | undefined
  /** Begins no further run, and waits for the one that is going on. */
  stop(): Promise<void>
}

/**
 * Runs `work` when asked: never twice at once, and once more when it was asked for during a run.
 * @param work never rejects
 */
export function coalesce(work: () => Promise<void>): Coalesced {
  let current: Promise<void> | undefined
  let isWanted = false
  let isStopped = false
  const run = async () => {
    while (isWanted && !isStopped) {
      isWanted = false
      await work()
    }
    // In the same step as the look at `isWanted`: a call after that look begins a new run.
    current = undefined
  }
  return {
    wake() {
      if (isStopped) return
      isWanted = true
      current ??= run()
    },
    get current() {
      return current
    },
    async stop() {
      isStopped = true
      await current
    },
  }
}
