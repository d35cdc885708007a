/** Counts what is open at once for each key, such as an address, and refuses more than a limit. */
export class LimitedCount {
  readonly #max: number
  readonly #counts = new Map<string, number>()

  constructor(max: number) {
    this.#max = max
  }

  /** Undefined at the limit. Otherwise returns the function that gives the place back; a second call of it does nothing. */
  take(key: string): (() => void) | undefined {
    const count = this.#counts.get(key) ?? 0
    if (count >= this.#max) return undefined
    this.#counts.set(key, count + 1)
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      const left = (this.#counts.get(key) ?? 1) - 1
      if (left === 0) this.#counts.delete(key)
      else this.#counts.set(key, left)
    }
  }
}
