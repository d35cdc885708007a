import type { Clock } from '../../kernel/time.ts'
import type { FetchQuestion } from './fetch-request.ts'
import { Memo } from './memo.ts'

/** Who clones so often may do so after the next push as well, as runners do. */
const REPEAT_MS = 3_600_000
const MAX_KNOWN = 10_000

interface Listing {
  question: FetchQuestion
  protocol: string | undefined
}

/** What clients ask of a repository, as far as it is likely to be asked again. */
export class Habits {
  readonly #clock: Clock
  readonly #listings = new Memo<Listing>(MAX_KNOWN)
  readonly #clonedAt = new Memo<number>(MAX_KNOWN)

  constructor(clock: Clock) {
    this.#clock = clock
  }

  noteListing(id: number, listing: Listing): void {
    this.#listings.keep(id, '', listing)
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

  forget(id: number): void {
    this.#listings.forget(id)
    this.#clonedAt.forget(id)
  }
}
