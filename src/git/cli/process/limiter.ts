import { GitError } from '../../errors.ts'
import type { Client } from '../../model.ts'

export interface LimiterOption {
  /** Short commands and transfers have places of their own: eight slow clones must not stop the reading of a file. */
  places: Record<Kind, number>
  /** Callers that may wait for a place, of each kind. */
  maxQueue: number
  /** Memory that all Git processes together may reserve. */
  maxMemoryBytes: number
}

export type Kind = 'command' | 'transfer'

export interface Claim {
  kind: Kind
  memoryBytes: number
  /** The repository. */
  subject: string | undefined
  /** Undefined for the service's own work. */
  client: Client | undefined
}

/** So much of something may be taken in all. */
interface Bound {
  of: string
  amount: number
  max: number
}

interface Waiter {
  claim: Claim
  grant(): void
}

/**
 * Decides when a Git process may start. Each takes a place and reserves memory; whoever finds none waits, and is refused where too many
 * wait already. One repository, one client, and all visitors together get a part of the places only, so that slow work for them
 * leaves something for the others.
 */
export class Limiter {
  readonly #option: LimiterOption
  readonly #queue = new Set<Waiter>()
  readonly #taken = new Map<string, number>()

  constructor(option: LimiterOption) {
    this.#option = option
  }

  /** Resolves to the function that gives the place back. Throws `busy` when the queue is full, and what the signal says. */
  async acquire(signal: AbortSignal, claim: Claim): Promise<() => void> {
    signal.throwIfAborted()
    if (this.#fits(this.#boundsOf(claim))) this.#take(this.#boundsOf(claim))
    else await this.#wait(signal, claim)
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      this.#giveBack(this.#boundsOf(claim))
      this.#grantNext()
    }
  }

  #boundsOf(claim: Claim): Bound[] {
    const { kind, memoryBytes } = claim
    const memory = { of: 'memory', amount: memoryBytes, max: this.#option.maxMemoryBytes }
    return [memory, ...sharesOf(claim, `running ${kind}`, this.#option.places[kind])]
  }

  #fits(bounds: readonly Bound[]): boolean {
    return bounds.every(({ of, amount, max }) => (this.#taken.get(of) ?? 0) + amount <= max)
  }

  #take(bounds: readonly Bound[]): void {
    for (const { of, amount } of bounds) this.#taken.set(of, (this.#taken.get(of) ?? 0) + amount)
  }

  #giveBack(bounds: readonly Bound[]): void {
    for (const { of, amount } of bounds) {
      const left = (this.#taken.get(of) ?? 0) - amount
      if (left > 0) this.#taken.set(of, left)
      else this.#taken.delete(of)
    }
  }

  async #wait(signal: AbortSignal, claim: Claim): Promise<void> {
    const places = sharesOf(claim, `waiting ${claim.kind}`, this.#option.maxQueue)
    if (!this.#fits(places)) throw new GitError('busy', 'busy', 'too many git processes')
    this.#take(places)
    const { promise: granted, resolve, reject } = Promise.withResolvers<void>()
    const waiter = { claim, grant: resolve }
    const giveUp = () => {
      this.#queue.delete(waiter)
      reject(signal.reason)
    }
    this.#queue.add(waiter)
    signal.addEventListener('abort', giveUp, { once: true })
    try {
      await granted
    } finally {
      signal.removeEventListener('abort', giveUp)
      this.#giveBack(places)
    }
  }

  /** In the order in which they came; who may not start yet is passed over. */
  #grantNext(): void {
    for (const waiter of this.#queue) {
      const bounds = this.#boundsOf(waiter.claim)
      if (!this.#fits(bounds)) continue
      this.#queue.delete(waiter)
      this.#take(bounds)
      waiter.grant()
    }
  }
}

/** What a claim counts against, out of so many places. A quarter is reserved for those who are signed in, and for the service itself. */
function sharesOf({ subject, client }: Claim, what: string, all: number): Bound[] {
  const [half, most] = [Math.ceil(all / 2), Math.ceil((all * 3) / 4)]
  const shares = [{ of: what, amount: 1, max: all }]
  if (subject !== undefined) shares.push({ of: `${what} of ${subject}`, amount: 1, max: most })
  if (client) shares.push({ of: `${what} for ${client.key}`, amount: 1, max: half })
  if (!client || client.isSignedIn) return shares
  shares.push({ of: `${what} for visitors`, amount: 1, max: most })
  if (subject !== undefined) shares.push({ of: `${what} of ${subject} for visitors`, amount: 1, max: half })
  return shares
}
