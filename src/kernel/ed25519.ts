/**
 * The points of Ed25519 whose order divides 8, by their y coordinate without the bit for the sign of x; the last two are the first two
 * again, written as numbers that are too large (RFC 8032, 5.1.3 refuses these, OpenSSL does not).
 */
const SMALL_ORDER: ReadonlySet<string> = new Set([
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
])

/**
 * Whether anybody can forge signatures of this public key, because it is a point of small order: node:crypto takes such keys, and
 * signatures that nobody has made.
 * @param point the 32 bytes of the key
 */
export function isSmallOrder(point: Uint8Array): boolean {
  const bytes = Buffer.from(point)
  bytes[31] = (bytes[31] ?? 0) & 0x7f
  return SMALL_ORDER.has(bytes.toString('hex'))
}
