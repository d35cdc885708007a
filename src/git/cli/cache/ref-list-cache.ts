import { LRUCache } from 'lru-cache'
import type { Clock } from '../../../kernel/time.ts'

/** One cached list: some 30,000 refs. */
export const MAX_LIST_BYTES = 2 * 1024 * 1024
const MAX_BYTES = 32 * 1024 * 1024
/** Git is asked again after ten minutes: what it says of a damaged tag changes with the repair, though no ref moves. */
const MAX_AGE_MS = 600_000

export type RefLists = LRUCache<string, Uint8Array<ArrayBuffer>>

export const createRefLists = (clock: Clock): RefLists =>
  new LRUCache({
    maxSize: MAX_BYTES,
    // With what it takes to keep even an empty one.
    sizeCalculation: ({ length }) => length + 512,
    ttl: MAX_AGE_MS,
    ttlResolution: 0,
    perf: { now: () => clock.now().getTime() },
  })
