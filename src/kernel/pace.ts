import { within } from './within.ts'

/** So many bytes must pass in the time that a pace allows. With the default of 60 s this is about 2 KiB a second. */
export const PACE_BYTES = 128 * 1024

/**
 * The least speed of a client, in either direction. Only the time that the server waits for the client counts, so a client never
 * pays for work that takes the server long. It may be as slow as it likes for one stretch of `PACE_BYTES`, but no slower.
 */
export class Pace {
  readonly #allowedMs: number
  #waitedMs = 0
  #bytes = 0

  constructor(seconds: number) {
    this.#allowedMs = seconds * 1000
  }

  /** Waits for the client. Returns false when it was too slow. @throws what `step` fails with */
  async keeps(step: PromiseLike<unknown>): Promise<boolean> {
    const since = performance.now()
    const isInTime = await within(this.#allowedMs - this.#waitedMs, step)
    this.#waitedMs += performance.now() - since
    return isInTime
  }

  /** Bytes that have passed. */
  count(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes < PACE_BYTES) return
    this.#bytes = 0
    this.#waitedMs = 0
  }
}
