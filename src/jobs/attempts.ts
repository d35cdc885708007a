interface Running {
  id: string
  controller: AbortController
  giveUp(reason: Error): void
}

/** The attempts that run in this process: gives each its signal, ends it at its deadline, and all of them at a stop. */
export class Attempts {
  /** Ids of jobs that ended because of `stop`: their attempt does not count. */
  readonly handedBack = new Set<string>()
  readonly #running = new Set<Running>()
  #stopReason: Error | undefined

  /** Throws what `work` throws; or at the deadline, whether or not `work` heeds its signal. */
  async run(id: string, deadlineSeconds: number, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    if (this.#stopReason !== undefined) return this.#refuse(id, this.#stopReason)
    const controller = new AbortController()
    const over = Promise.withResolvers<never>()
    const running: Running = { id, controller, giveUp: over.reject }
    const expire = () => {
      const reason = new Error(`not done within ${deadlineSeconds} s`)
      controller.abort(reason)
      over.reject(reason)
    }
    const timer = setTimeout(expire, deadlineSeconds * 1000)
    this.#running.add(running)
    try {
      await Promise.race([work(controller.signal), over.promise])
    } catch (error) {
      if (this.#stopReason !== undefined) this.handedBack.add(id)
      throw error
    } finally {
      clearTimeout(timer)
      this.#running.delete(running)
    }
  }

  /** Ids of the jobs that run now. */
  get running(): string[] {
    return Array.from(this.#running, ({ id }) => id)
  }

  get isStopped(): boolean {
    return this.#stopReason !== undefined
  }

  /** Fires every signal; attempts that are claimed from now on end at once. */
  stop(reason: Error): void {
    this.#stopReason = reason
    for (const { controller } of this.#running) controller.abort(reason)
  }

  /** Waits no longer for handlers that ignore their signal. They may still run, and so may the job's next attempt. */
  cut(reason: Error): void {
    for (const { giveUp } of this.#running) giveUp(reason)
  }

  #refuse(id: string, reason: Error): never {
    this.handedBack.add(id)
    throw reason
  }
}
