/** Less than this in one read is little. */
const LITTLE_BYTES = 32 * 1024
/** Short reads in a row that are no reason to wait: answers to questions are short, and somebody waits for them. */
const FREE = 8
const PAUSE_MS = 1

/**
 * Reads a process that prints much in small pieces, without being woken for each of them: upload-pack prints a pack in pieces of
 * 8 KiB, and four bytes before each. After some of them the pipe may fill for a millisecond.
 */
export function unhurried(reader: ReadableStreamDefaultReader<Uint8Array>) {
  let little = 0
  return async () => {
    if (little >= FREE) await Bun.sleep(PAUSE_MS)
    const result = await reader.read()
    little = result.done || result.value.length >= LITTLE_BYTES ? 0 : little + 1
    return result
  }
}
