/** Bytes of passing chunks between two hints: measured, 300 MiB through the server then add 47 MiB to its peak in place of 77. */
const INTERVAL_BYTES = 16 * 1024 * 1024

/**
 * For streams of any size. Their chunks are garbage as soon as they have passed, but the collector counts objects rather than the
 * memory behind them, and comes late. The returned function is called with the length of each chunk; it never blocks.
 */
export function garbageMeter(): (bytes: number) => void {
  let passed = 0
  return (bytes) => {
    passed += bytes
    if (passed < INTERVAL_BYTES) return
    passed = 0
    Bun.gc(false)
  }
}
