const ELLIPSIS = '…'

/** A text of at most so many bytes in UTF-8. Where that takes something away it ends in an ellipsis, and no character is cut in two. */
export function cutToBytes(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text
  const room = new Uint8Array(maxBytes - Buffer.byteLength(ELLIPSIS))
  const { read } = new TextEncoder().encodeInto(text, room)
  return text.slice(0, read) + ELLIPSIS
}
