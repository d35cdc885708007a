import { expect, test } from 'bun:test'
import {
  config,
  createMessage,
  generateKey,
  type KeyOptions,
  type PrivateKey,
  readKey,
  reformatKey,
  sign,
} from 'openpgp'
import { readCertificate } from '../../src/signatures/openpgp/certificate.ts'
import { judgeSigned, readIssuer } from '../../src/signatures/openpgp/detached.ts'
import { OpenPgpError } from '../../src/signatures/openpgp/library.ts'
import type { Certificate } from '../../src/signatures/openpgp/model.ts'
import { fixture, payload } from './fixtures.ts'
import {
  armor,
  certificateOf,
  embedded,
  flags,
  type HandmadeKey,
  handmadeKey,
  KeyFlags,
  packetOf,
  type SignOption,
  subpacket,
  userIdParts,
} from './handmade.ts'

const NOW = new Date('2026-06-01T00:00:00Z')
const content = Buffer.from('tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n\na commit\n')

/** Whether the key has signed, by a part of it that may. */
async function hasSigned(certificate: Certificate, armored: string, signed: Uint8Array, now = NOW): Promise<boolean> {
  const issuer = await readIssuer(armored)
  const signer = [certificate.primary, ...certificate.subkeys].find(({ keyId }) => keyId === issuer)
  const content = { certificate: certificate.bytes, armored, contents: [signed], now }
  return signer?.canSign === true && (await judgeSigned(content)).isSigned
}

const refusal = async (armored: string, now = NOW): Promise<string> => {
  try {
    await readCertificate(armored, now)
    return 'taken'
  } catch (error) {
    if (error instanceof OpenPgpError) return error.message
    throw error
  }
}

test.each([
  ['gpg-ed25519', ['alice@localhost.localdomain'], 1],
  ['gpg-rsa-subkey', ['rita@localhost.localdomain'], 1],
  ['gpg-nistp256', ['nora@localhost.localdomain'], 0],
  ['gpg-nistp521', ['olga@localhost.localdomain'], 0],
])('%s: what gpg made is read and verified', async (name, emails, subkeys) => {
  const certificate = await readCertificate(await fixture(`${name}.key.asc`), NOW)
  expect(certificate.emails).toEqual(emails)
  expect(certificate.subkeys).toHaveLength(subkeys)
  const signature = await fixture(`${name}.sig.asc`)
  const signed = Buffer.from(await payload())
  expect(await hasSigned(certificate, signature, signed)).toBe(true)
  signed[10] = (signed[10] ?? 0) ^ 1
  expect(await hasSigned(certificate, signature, signed)).toBe(false)
})

test('the facts of a key are those that gpg shows', async () => {
  const { primary, subkeys } = await readCertificate(await fixture('gpg-rsa-subkey.key.asc'), NOW)
  expect(primary).toMatchObject({ canSign: false, canCertify: true, canEncryptComms: false, expiresAt: null })
  expect(subkeys).toMatchObject([{ canSign: true, canCertify: false, canEncryptStorage: false, expiresAt: null }])
  expect(primary.madeAt).toEqual(new Date('2024-01-02T03:04:05Z'))
  const alice = await readCertificate(await fixture('gpg-ed25519.key.asc'), NOW)
  expect(alice.subkeys).toMatchObject([{ canSign: false, canEncryptComms: true, canEncryptStorage: true }])
})

test('a signature over text counts with the line endings of Git alone, one with SHA-1 never', async () => {
  const alice = await readCertificate(await fixture('gpg-ed25519.key.asc'), NOW)
  const text = Buffer.from(await payload())
  expect(await hasSigned(alice, await fixture('gpg-ed25519-text.sig.asc'), text)).toBe(true)
  const inDos = Buffer.from(text.toString().replaceAll('\n', '\r\n'))
  expect(await hasSigned(alice, await fixture('gpg-ed25519-text.sig.asc'), inDos)).toBe(false)
  expect(await hasSigned(alice, await fixture('gpg-ed25519.sig.asc'), inDos)).toBe(false)
  const rita = await readCertificate(await fixture('gpg-rsa-subkey.key.asc'), NOW)
  expect(await hasSigned(rita, await fixture('gpg-rsa-sha1.sig.asc'), text)).toBe(false)
})

const DATE = new Date('2026-01-01T00:00:00Z')
const userIDs = [{ name: 'Ann', email: 'ann@example.org' }]

interface Made {
  armored: string
  secret: PrivateKey
}

async function make(options: Omit<KeyOptions, 'userIDs'> & Partial<KeyOptions> = {}): Promise<Made> {
  const { privateKey, publicKey } = await generateKey({
    type: 'curve25519',
    userIDs,
    date: DATE,
    ...options,
    format: 'object' as const,
  })
  return { armored: publicKey.armor(), secret: privateKey }
}

const signedBy = async ({ secret }: Made, date = new Date('2026-02-01T00:00:00Z')): Promise<string> =>
  String(
    await sign({ message: await createMessage({ binary: content, date }), signingKeys: secret, detached: true, date }),
  )

const kinds: [string, Omit<KeyOptions, 'userIDs'>][] = [
  ['RSA', { type: 'rsa', rsaBits: 2048 }],
  ['Ed25519 of old', { type: 'ecc', curve: 'ed25519Legacy' }],
  ['Ed25519', { type: 'curve25519' }],
  ['P-256', { type: 'ecc', curve: 'nistP256' }],
  ['P-384', { type: 'ecc', curve: 'nistP384' }],
  ['P-521', { type: 'ecc', curve: 'nistP521' }],
  ['version 6', { type: 'curve25519', config: { v6Keys: true } }],
  ['a signing subkey', { type: 'curve25519', subkeys: [{ sign: true }, { sign: false }] }],
  ['an end', { type: 'curve25519', keyExpirationTime: 86_400 * 365, subkeys: [{ keyExpirationTime: 86_400 * 30 }] }],
]

test.each(kinds)('%s: openpgp.js reads the same facts, and its signatures are verified', async (_, options) => {
  const made = await make(options)
  const certificate = await readCertificate(made.armored, NOW)
  const theirs = await readKey({ armoredKey: made.armored })
  const ours = [certificate.primary, ...certificate.subkeys]
  const expected = await Promise.all(
    theirs.getKeys().map(async (key) => {
      // Its own subkey ends when it says, not when the whole key does.
      const end = await ('getExpirationTime' in key ? key.getExpirationTime() : theirs.getExpirationTime())
      return [key.getKeyID().toHex().toUpperCase(), key.getFingerprint().toUpperCase(), end === Infinity ? null : end]
    }),
  )
  const found = ours.map(({ keyId, fingerprint, expiresAt }) => [keyId, fingerprint, expiresAt])
  expect(found).toEqual(JSON.parse(JSON.stringify(expected)).map(revived))
  expect(certificate.emails).toEqual(['ann@example.org'])
  const signature = await signedBy(made, new Date('2026-01-10T00:00:00Z'))
  expect(await hasSigned(certificate, signature, content)).toBe(true)
  expect(await hasSigned(certificate, signature, Buffer.concat([content, Buffer.from(' ')]))).toBe(false)
  const other = await readCertificate((await make(options)).armored, NOW)
  expect(await hasSigned(other, signature, content)).toBe(false)
})

const revived = ([id, fingerprint, end]: [string, string, string | null]) => [id, fingerprint, end && new Date(end)]

test('a key counts for what was signed while it lived, and not before or after', async () => {
  const made = await make({ keyExpirationTime: 86_400 * 100, subkeys: [] })
  const certificate = await readCertificate(made.armored, NOW)
  expect(certificate.primary.expiresAt).toEqual(new Date(DATE.getTime() + 86_400_000 * 100))
  expect(await hasSigned(certificate, await signedBy(made), content)).toBe(true)
  // Of one key, the copy that ends and the one that its owner lets live longer.
  const { privateKey } = await generateKey({ type: 'curve25519', userIDs, date: DATE, format: 'object' })
  const copy = async (keyExpirationTime: number, date: Date) =>
    (await reformatKey({ privateKey, userIDs, keyExpirationTime, date, format: 'object' })).publicKey.armor()
  const secret = { armored: privateKey.toPublic().armor(), secret: privateKey }
  const [early, late] = [await signedBy(secret), await signedBy(secret, new Date('2026-05-01T00:00:00Z'))]
  const ended = await readCertificate(await copy(86_400 * 90, DATE), NOW)
  expect([await hasSigned(ended, early, content), await hasSigned(ended, late, content)]).toEqual([true, false])
  const longer = await readCertificate(await copy(86_400 * 900, new Date('2026-03-01T00:00:00Z')), NOW)
  expect([await hasSigned(longer, early, content), await hasSigned(longer, late, content)]).toEqual([true, true])
})

test('a revoked key is refused, a revoked subkey or user id left out', async () => {
  const { secret } = await make({ subkeys: [{ sign: true }], userIDs: [...userIDs, { email: 'other@example.org' }] })
  const revokedKey = await secret.revoke({ string: 'gone' }, DATE)
  expect(await refusal(revokedKey.toPublic().armor())).toBe('was revoked')
  const [subkey] = secret.subkeys
  const [, user] = secret.users
  if (!subkey || !user) throw new Error('made with both')
  secret.subkeys = [await subkey.revoke(keyPacketOf(secret), { string: 'lost' }, DATE)]
  secret.users = [...secret.users.slice(0, 1), await user.revoke(keyPacketOf(secret), { string: 'moved' }, DATE)]
  const certificate = await readCertificate(secret.toPublic().armor(), NOW)
  expect(certificate.subkeys).toEqual([])
  expect(certificate.emails).toEqual(['ann@example.org'])
})

function keyPacketOf({ keyPacket }: PrivateKey) {
  if (!('privateParams' in keyPacket)) throw new Error('a private key')
  return keyPacket
}

test("nobody takes another's signing subkey, user id or signatures for their own", async () => {
  const [ann, eve, subkey] = [handmadeKey(DATE), handmadeKey(DATE), handmadeKey(DATE)]
  const subkeysOf = async (owner: HandmadeKey, binding: Uint8Array) => {
    const armored = certificateOf(owner, 'eve@example.org', [packetOf(14, subkey.body), packetOf(2, binding)])
    return (await readCertificate(armored, NOW)).subkeys
  }
  const bind = (owner: HandmadeKey, subpackets: readonly Uint8Array[]) =>
    owner.sign(0x18, [owner.hashed, subkey.hashed], { subpackets })
  const consent = subkey.sign(0x19, [ann.hashed, subkey.hashed])
  expect(await subkeysOf(ann, bind(ann, [flags(KeyFlags.sign), embedded(consent)]))).toMatchObject([{ canSign: true }])
  expect(await subkeysOf(eve, bind(eve, [flags(KeyFlags.sign), embedded(consent)]))).toEqual([])
  expect(await subkeysOf(eve, bind(eve, [flags(KeyFlags.sign)]))).toEqual([])
  expect(await subkeysOf(eve, bind(eve, []))).toMatchObject([{ canSign: false }])
  expect(await subkeysOf(eve, bind(ann, [flags(KeyFlags.sign), embedded(consent)]))).toEqual([])

  const stolen = [
    packetOf(13, Buffer.from('ann@example.org')),
    packetOf(2, ann.sign(0x13, userIdParts(ann, 'ann@example.org'))),
  ]
  expect((await readCertificate(certificateOf(eve, 'eve@example.org', stolen), NOW)).emails).toEqual([
    'eve@example.org',
  ])
  const claimed = [packetOf(13, Buffer.from('ann@example.org')), packetOf(2, eve.sign(0x13, userIdParts(eve, 'eve')))]
  expect((await readCertificate(certificateOf(eve, 'eve@example.org', claimed), NOW)).emails).toEqual([
    'eve@example.org',
  ])
})

test('a signature that is not about content, or has conditions that nobody knows, is none', async () => {
  const ann = handmadeKey(DATE)
  const certificate = await readCertificate(certificateOf(ann, 'ann@example.org'), NOW)
  const isTaken = (type: number, option?: SignOption) =>
    hasSigned(certificate, armor(packetOf(2, ann.sign(type, [content], option)), 'SIGNATURE'), content)
  expect(await isTaken(0)).toBe(true)
  for (const type of [0x02, 0x10, 0x13, 0x18, 0x19, 0x20, 0x40, 0x50]) expect(await isTaken(type)).toBe(false)
  expect(await isTaken(0, { subpackets: [subpacket(99, Buffer.of(1))] })).toBe(true)
  expect(await isTaken(0, { subpackets: [subpacket(0x80 | 99, Buffer.of(1))] })).toBe(false)
  // It ends after a day.
  expect(await isTaken(0, { subpackets: [subpacket(3, Buffer.of(0, 1, 0x51, 0x80))] })).toBe(false)
  expect(await isTaken(0, { at: new Date(DATE.getTime() - 1000) })).toBe(false)
})

test('a revocation counts whatever time it names', async () => {
  const ann = handmadeKey(DATE)
  const at = new Date('2100-01-01T00:00:00Z')
  const [key, ...rest] = [packetOf(6, ann.body), packetOf(2, ann.sign(0x20, [ann.hashed], { at }))]
  expect(await refusal(armor(Buffer.concat([key ?? Buffer.alloc(0), ...rest])))).toBe('was revoked')
})

test('keys that are none, or not to be taken, are refused with the reason', async () => {
  const { armored, secret } = await make()
  expect(await refusal(secret.armor())).toContain('is a private key')
  expect(await refusal(`${armored}\n${armored}`)).toBe('has more than one block')
  expect(await refusal('')).toBe('is no "PGP PUBLIC KEY BLOCK"')
  expect(await refusal(armored.replace(/\n[^\n=]+\n=/, '\n=').replace(/.{9}(?==)/, ''))).not.toBe('taken')
  expect(await refusal(await signedBy({ armored, secret }))).toBe('is no "PGP PUBLIC KEY BLOCK"')
  expect(await refusal((await signedBy({ armored, secret })).replaceAll('SIGNATURE', 'PUBLIC KEY BLOCK'))).toContain(
    'cannot be read',
  )
  expect(await refusal(await fixture('gpg-dsa.key.asc'))).toBe('cannot sign')
  const weak = await make({ type: 'rsa', rsaBits: 1024, config: { ...config, minRSABits: 512 } })
  expect(await refusal(weak.armored)).toContain('is an RSA key of 1024 bits')
  expect(await refusal(armored, new Date('2025-01-01T00:00:00Z'))).toBe('has no user id that it has signed')
})

test('a key that somebody has changed anywhere is refused or says nothing new', async () => {
  const armored = await fixture('gpg-rsa-subkey.key.asc')
  const whole = await readCertificate(armored, NOW)
  const bytes = Buffer.from(whole.bytes)
  for (let at = 0; at < bytes.length; at += 1) {
    const changed = Buffer.from(bytes)
    changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8))
    try {
      const { primary, subkeys, emails } = await readCertificate(armor(changed), NOW)
      expect(primary).toMatchObject({ canSign: false, canCertify: true, expiresAt: null })
      expect(emails.every((email) => whole.emails.includes(email))).toBe(true)
      for (const { fingerprint } of subkeys) expect(fingerprint).toBe(whole.subkeys[0]?.fingerprint ?? '')
    } catch (error) {
      if (!(error instanceof OpenPgpError)) throw error
    }
  }
})

test('every beginning and every change of a signature is no signature', async () => {
  const certificate = await readCertificate(await fixture('gpg-rsa-subkey.key.asc'), NOW)
  const signed = await payload()
  const text = await fixture('gpg-rsa-subkey.sig.asc')
  const bytes = Buffer.from(text.replace(/-----.*-----|=.{4}\n/g, ''), 'base64')
  const isTaken = (changed: Uint8Array): Promise<boolean> => hasSigned(certificate, armor(changed, 'SIGNATURE'), signed)
  expect(await isTaken(bytes)).toBe(true)
  for (let length = 1; length < bytes.length; length += 1) expect(await isTaken(bytes.subarray(0, length))).toBe(false)
  const taken: number[] = []
  for (const at of bytes.keys()) {
    const changed = Buffer.from(bytes)
    changed[at] = (bytes[at] ?? 0) ^ 0x55
    if (await isTaken(changed)) taken.push(at)
  }
  // But for what is not signed: the hints behind the facts, each part behind its length.
  const hints = 3 + 6 + bytes.readUInt16BE(3 + 4) + 2
  const end = hints + bytes.readUInt16BE(hints - 2)
  expect(taken.filter((at) => at < hints || at >= end)).toEqual([])
})

test('a key with more parts than any has is refused before they are verified', async () => {
  const ann = handmadeKey(DATE)
  const certification = packetOf(2, ann.sign(0x13, userIdParts(ann, 'ann')))
  const users = Array.from({ length: 250 }, () => [packetOf(13, Buffer.from('ann')), certification]).flat()
  expect(await refusal(certificateOf(ann, 'ann', users))).toBe('has too many user ids or subkeys')
  expect(await refusal(certificateOf(ann, 'x'.repeat(6000)))).toContain('cannot be read')
})
