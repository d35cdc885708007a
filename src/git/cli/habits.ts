import type { Clock } from '../../kernel/time.ts'
import type { FetchQuestion } from './fetch-request.ts'
import { Memo } from './memo.ts'

/** Who clones so often may do so after the next push as well, as runners do. */
const REPEAT_MS = 3_600_000
const MAX_KNOWN = 10_000
/** Of a question that is kept, in characters: git says 200. Others are nobody's habit, and may be a thousand times as long. */
const MAX_ASKED = 2000

interface Listing {
  question: FetchQuestion
  protocol: string | undefined
}

/** What clients ask of a repository, as far as it is likely to be asked again. */
export class Habits {
  readonly #clock: Clock
  readonly #listings = new Memo<Listing>(MAX_KNOWN)
  readonly #clonedAt = new Memo<number>(MAX_KNOWN)
  readonly #turns = new Map<number, { isLast: boolean }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  noteListing(id: number, listing: Listing): void {
    if (listing.question.asked.length <= MAX_ASKED) this.#listings.keep(id, '', listing)
  }

  noteClone(id: number): void {
    this.#clonedAt.keep(id, '', this.#clock.now().getTime())
  }

  /** How the refs are asked for of a repository that is cloned often. */
  expect(id: number): Listing | undefined {
    const clonedAt = this.#clonedAt.find(id, '')
    const isRecent = clonedAt !== undefined && this.#clock.now().getTime() - clonedAt < REPEAT_MS
    return isRecent ? this.#listings.find(id, '') : undefined
  }

  /** Prepares a repository, one turn after the other: however many pushes come meanwhile, one turn follows. */
  async prepare(id: number, turn: () => Promise<void>): Promise<void> {
    const running = this.#turns.get(id)
    if (running) {
      running.isLast = false
      return
    }
    const state = { isLast: false }
    this.#turns.set(id, state)
    try {
      while (!state.isLast) {
        state.isLast = true
        await turn()
      }
    } finally {
      this.#turns.delete(id)
    }
  }

  forget(id: number): void {
    this.#listings.forget(id)
    this.#clonedAt.forget(id)
  }
}
