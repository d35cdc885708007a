/** In flight to one host from this process. */
const PER_HOST = 8
/** A target whose last delivery failed gets one place, so that many dead ones leave room for those that live. */
const PER_FAILING_HOST = 1

/** Counts what is on its way to each host. Nobody waits here: who finds no place comes again later. */
export class HostPlaces {
  readonly #taken = new Map<string, number>()

  /** Returns what gives the place back, or undefined when all are taken. */
  take(host: string, isFailing: boolean): (() => void) | undefined {
    const taken = this.#taken.get(host) ?? 0
    if (taken >= (isFailing ? PER_FAILING_HOST : PER_HOST)) return undefined
    this.#taken.set(host, taken + 1)
    return () => {
      const left = (this.#taken.get(host) ?? 1) - 1
      if (left === 0) this.#taken.delete(host)
      else this.#taken.set(host, left)
    }
  }
}
