/**
 * Bytes of passing chunks between two collections. Measured with 500 MiB through the server: its peak grows by 34 MiB, by 52 with
 * twice the interval and by 85 to 100 without, or with collections in the background, which a quick client overtakes.
 */
const INTERVAL_BYTES = 32 * 1024 * 1024

/**
 * The same of all streams together: 20 clones of 20 MiB at once, of which none comes to the interval by itself, took 115 MiB, and any
 * number may come. A collection for each 32 MiB would cost them twice the processor.
 */
const MAX_BYTES = 128 * 1024 * 1024

let all = 0
let collections = 0

/**
 * For streams of any size. Their chunks are garbage as soon as they have passed, but the collector counts objects rather than the
 * memory behind them, and comes late. The returned function is called with the length of each chunk; now and then it takes some
 * milliseconds.
 */
export function garbageMeter(): (bytes: number) => void {
  let own = 0
  let seen = collections
  return (bytes) => {
    if (seen !== collections) own = 0
    seen = collections
    own += bytes
    all += bytes
    if (own < INTERVAL_BYTES && all < MAX_BYTES) return
    all = 0
    collections += 1
    Bun.gc(true)
  }
}
