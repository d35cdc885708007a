import { PacketFault } from './reader.ts'

type Block = 'PUBLIC KEY BLOCK' | 'SIGNATURE'

/**
 * The bytes of the one armored block in a text (RFC 9580, 6.2). Its checksum is not looked at, as the RFC advises. Every step takes
 * time in proportion to the text.
 * @throws PacketFault when there is none, or more than one
 */
export function readArmor(text: string, block: Block): Uint8Array {
  const [begin, end] = [`-----BEGIN PGP ${block}-----`, `-----END PGP ${block}-----`]
  const start = text.indexOf(begin)
  const stop = text.indexOf(end, start)
  if (start < 0 || stop < 0) throw new PacketFault(`is no "PGP ${block}"`)
  if (text.includes(begin, stop)) throw new PacketFault('has more than one block')
  const lines = text
    .slice(start + begin.length, stop)
    .split('\n')
    .map((line) => line.trim())
  const first = lines.findIndex((line, index) => index > 0 && !/^[A-Za-z][A-Za-z-]*:( |$)/.test(line))
  const content = lines.slice(Math.max(first, 0)).filter((line) => line !== '')
  if (/^=[A-Za-z0-9+/]{4}$/.test(content.at(-1) ?? '')) content.pop()
  const encoded = content.join('')
  if (encoded === '' || !/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) throw new PacketFault('is not encoded in base64')
  return Buffer.from(encoded, 'base64')
}
