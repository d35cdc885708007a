import { tooManyRequests, unavailable } from '../../kernel/errors.ts'

/** Of one reader: so many pages of browsers may be open. */
const MAX_OF_READER = 10
/** Of this process. */
const MAX_STREAMS = 250
const RETRY_SECONDS = 10

/** Counts the open streams of this process. */
export function createStreamPlaces() {
  const counts = new Map<string, number>()
  let all = 0
  return {
    /** @returns what gives the place back, once @throws Refusal 429 where the reader has too many, 503 where all have */
    enter(reader: string): () => void {
      const own = counts.get(reader) ?? 0
      if (own >= MAX_OF_READER) throw tooManyRequests(`at most ${MAX_OF_READER} streams at once`, RETRY_SECONDS)
      if (all >= MAX_STREAMS) throw unavailable('too many streams are open', RETRY_SECONDS)
      counts.set(reader, own + 1)
      all += 1
      let isOpen = true
      return () => {
        if (!isOpen) return
        isOpen = false
        all -= 1
        const left = (counts.get(reader) ?? 1) - 1
        if (left === 0) counts.delete(reader)
        else counts.set(reader, left)
      }
    },
  }
}
