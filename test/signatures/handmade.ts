import { createHash, generateKeyPairSync, sign as signBytes } from 'node:crypto'

/** An OpenPGP key (version 4, Ed25519) put together by hand, able to sign what no program would. */
export interface HandmadeKey {
  body: Uint8Array
  /** What stands for it in what is signed. */
  hashed: Uint8Array
  /** The body of a signature over these parts. */
  sign(type: number, parts: readonly Uint8Array[], option?: SignOption): Uint8Array
}

export interface SignOption {
  at?: Date
  /** Beside time and issuer. */
  subpackets?: readonly Uint8Array[]
}

export const KeyFlags = { certifyAndSign: 3, sign: 2 } as const

export function handmadeKey(madeAt: Date): HandmadeKey {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const point = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url')
  return keyWith(madeAt, { point, signBytes: (digest) => signBytes(null, digest, privateKey) })
}

function keyWith(madeAt: Date, key: { point: Uint8Array; signBytes(digest: Uint8Array): Uint8Array }): HandmadeKey {
  const { point } = key
  const body = Buffer.concat([Buffer.of(4), seconds(madeAt), Buffer.of(27), point])
  const hashed = Buffer.concat([Buffer.of(0x99, 0, body.length), body])
  const fingerprint = createHash('sha1').update(hashed).digest()
  return {
    body,
    hashed,
    sign(type, parts, { at = madeAt, subpackets = [] } = {}) {
      const all = [subpacket(2, seconds(at)), subpacket(33, Buffer.concat([Buffer.of(4), fingerprint])), ...subpackets]
      const facts = Buffer.concat(all)
      const head = Buffer.concat([Buffer.of(4, type, 27, 8, facts.length >> 8, facts.length & 255), facts])
      const signed = Buffer.concat([...parts, head, Buffer.of(4, 0xff), uint32(head.length)])
      const digest = createHash('sha256').update(signed).digest()
      return Buffer.concat([head, Buffer.of(0, 0), digest.subarray(0, 2), key.signBytes(digest)])
    },
  }
}

/**
 * A key whose point is the neutral element: a signature with the same point and 0 is right for every text, so nobody needs a secret.
 */
export function weakKey(madeAt: Date): HandmadeKey {
  const point = Buffer.from(`01${'00'.repeat(31)}`, 'hex')
  return keyWith(madeAt, { point, signBytes: () => Buffer.concat([point, Buffer.alloc(32)]) })
}

export const subpacket = (kind: number, content: Uint8Array): Uint8Array =>
  Buffer.concat([Buffer.of(255), uint32(content.length + 1), Buffer.of(kind), content])

export const flags = (value: number): Uint8Array => subpacket(27, Buffer.of(value))
export const embedded = (signature: Uint8Array): Uint8Array => subpacket(32, signature)

/** What is signed of a user id. */
export const userIdParts = (key: HandmadeKey, text: string): Uint8Array[] => [
  key.hashed,
  Buffer.of(0xb4),
  uint32(Buffer.byteLength(text)),
  Buffer.from(text),
]

/** With a header whose length has four bytes (RFC 9580, 4.2.1). */
export const packetOf = (tag: number, body: Uint8Array): Uint8Array =>
  Buffer.concat([Buffer.of(0xc0 | tag, 255), uint32(body.length), body])

/** Key, user id and its certification, and whatever follows. */
export function certificateOf(key: HandmadeKey, text: string, more: readonly Uint8Array[] = []): string {
  const certification = key.sign(0x13, userIdParts(key, text), { subpackets: [flags(KeyFlags.certifyAndSign)] })
  const packets = [packetOf(6, key.body), packetOf(13, Buffer.from(text)), packetOf(2, certification), ...more]
  return armor(Buffer.concat(packets))
}

export function armor(bytes: Uint8Array, block = 'PUBLIC KEY BLOCK'): string {
  const lines =
    Buffer.from(bytes)
      .toString('base64')
      .match(/.{1,64}/g) ?? []
  return [`-----BEGIN PGP ${block}-----`, '', ...lines, `-----END PGP ${block}-----`, ''].join('\n')
}

function uint32(value: number): Uint8Array {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

function seconds(at: Date): Uint8Array {
  return uint32(Math.floor(at.getTime() / 1000))
}
