export interface MediaType {
  type: string
  /** Whether a browser may show it in place; the rest is offered to be saved. */
  isInline: boolean
}

/** Bytes that are enough to decide. */
export const SNIFFED_BYTES = 1024

const MAGIC: readonly (readonly [offset: number, bytes: string, type: string])[] = [
  [0, '89504e470d0a1a0a', 'image/png'],
  [0, 'ffd8ff', 'image/jpeg'],
  [0, '474946383761', 'image/gif'],
  [0, '474946383961', 'image/gif'],
  [8, '57454250', 'image/webp'],
  [4, '6674797061766966', 'image/avif'],
  [0, '424d', 'image/bmp'],
  [0, '00000100', 'image/x-icon'],
  [0, '1a45dfa3', 'video/webm'],
  [4, '6674797069736f6d', 'video/mp4'],
  [4, '667479706d703432', 'video/mp4'],
  [0, '4f676753', 'application/ogg'],
  [0, '494433', 'audio/mpeg'],
  [0, '664c6143', 'audio/flac'],
  [8, '57415645', 'audio/wav'],
]
const PDF = '255044462d'

export const TEXT = 'text/plain; charset=utf-8'
export const BINARY = 'application/octet-stream'

/** All types that `sniffMediaType` can give, without parameters. */
export const SNIFFED_TYPES = [...new Set(['text/plain', BINARY, 'application/pdf', ...MAGIC.map(([, , type]) => type)])]

/**
 * The type that a file of a stranger is sent with. Whatever a browser would run (pages, scripts, pictures in XML) is plain text;
 * the name of the file is not asked, as it is the stranger's too.
 * @param head the first bytes, all there are or `SNIFFED_BYTES`
 */
export function sniffMediaType(head: Uint8Array): MediaType {
  const hex = Buffer.from(head.subarray(0, 32)).toString('hex')
  if (hex.startsWith(PDF)) return { type: 'application/pdf', isInline: false }
  const known = MAGIC.find(([offset, bytes]) => hex.startsWith(bytes, offset * 2))
  const isText = isPlainText(head)
  // Two letters at the beginning of a text are no picture.
  if (known && !isText) return { type: known[2], isInline: true }
  return isText ? { type: textType(head), isInline: true } : { type: BINARY, isInline: false }
}

/** Neither NUL nor control characters other than those of texts. */
const isPlainText = (head: Uint8Array): boolean =>
  hasWideMark(head) || !head.some((byte) => byte < 0x20 && byte !== 0x1b && (byte < 0x08 || byte > 0x0d))

const hasWideMark = (head: Uint8Array): boolean =>
  (head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff)

function textType(head: Uint8Array): string {
  if (hasWideMark(head)) return 'text/plain; charset=utf-16'
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true })
    return TEXT
  } catch {
    // Some older encoding: the reader's own guess is better than a wrong name.
    return 'text/plain'
  }
}
