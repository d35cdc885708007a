import { PACE_BYTES } from '../kernel/pace.ts'

/**
 * How long a client of a command may keep the server waiting. What is quiet until the client says something is the client's time:
 * a drop now and then does not begin it anew, only `PACE_BYTES` either way do. What is quiet until the server says something is not,
 * but no silence is longer than the same limit.
 */
export class Patience {
  readonly #over: () => void
  #allowedMs = Number.POSITIVE_INFINITY
  #waitedMs = 0
  #bytes = 0
  #quietSince = 0
  #askedAt = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  /** @param over called when the client has taken too long */
  constructor(over: () => void) {
    this.#over = over
  }

  /** Begins anew. Until it is called, there is no limit. */
  allow(seconds: number): void {
    this.#allowedMs = seconds * 1000
    this.#waitedMs = 0
    this.#bytes = 0
    this.#watch()
  }

  /** The server wants something of the client. */
  asked(): void {
    this.#askedAt = performance.now()
  }

  /** Something came from the client. */
  received(bytes: number): void {
    this.#waitedMs += performance.now() - Math.max(this.#quietSince, this.#askedAt)
    this.#passed(bytes)
  }

  /** The client has taken something. */
  sent(bytes: number): void {
    this.#passed(bytes)
  }

  end(): void {
    clearTimeout(this.#timer)
    this.#allowedMs = Number.POSITIVE_INFINITY
  }

  #passed(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes >= PACE_BYTES) {
      this.#bytes = 0
      this.#waitedMs = 0
    }
    this.#watch()
  }

  #watch(): void {
    clearTimeout(this.#timer)
    this.#quietSince = performance.now()
    if (this.#allowedMs === Number.POSITIVE_INFINITY) return
    this.#timer = setTimeout(this.#over, Math.max(0, this.#allowedMs - this.#waitedMs))
  }
}
