import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** Hexadecimal SHA-256: how secrets with enough entropy are stored and looked up. */
export const sha256Hex = (value: string | Uint8Array): string => createHash('sha256').update(value).digest('hex')

/** A random secret as hexadecimal digits, two for each byte. */
export const randomHex = (byteCount: number): string => randomBytes(byteCount).toString('hex')

/** Compares two texts in a time that depends only on their lengths. */
export function constantTimeEqual(left: string, right: string): boolean {
  const a = createHash('sha256').update(left).digest()
  const b = createHash('sha256').update(right).digest()
  return timingSafeEqual(a, b)
}
