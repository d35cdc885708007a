/** In flight to one host from this process. */
export const PER_HOST = 16
/** A target whose last deliveries failed gets one place, so that many dead ones leave room for those that live. */
const PER_FAILING_HOST = 1

export interface Places {
  count: number
  giveBack(): void
}

/** Counts what is on its way to each host. Nobody waits here: who finds no place comes again later. */
export class HostPlaces {
  readonly #taken = new Map<string, number>()

  /** As many of the wanted places as are free; undefined when there are none. */
  take(host: string, wanted: number, isFailing: boolean): Places | undefined {
    const taken = this.#taken.get(host) ?? 0
    const count = Math.min(wanted, (isFailing ? PER_FAILING_HOST : PER_HOST) - taken)
    if (count <= 0) return undefined
    this.#taken.set(host, taken + count)
    return { count, giveBack: () => this.#giveBack(host, count) }
  }

  #giveBack(host: string, count: number): void {
    const left = (this.#taken.get(host) ?? count) - count
    if (left === 0) this.#taken.delete(host)
    else this.#taken.set(host, left)
  }
}
