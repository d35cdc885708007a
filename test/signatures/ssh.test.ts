import { expect, test } from 'bun:test'
import { createHash, generateKeyPairSync, sign as signBytes } from 'node:crypto'
import { BlobReader, blobString, SshKeyError } from '../../src/kernel/ssh-blob.ts'
import { readSshPrivateKey } from '../../src/signatures/ssh/private-key.ts'
import { readSshSignature, writeSshSignature } from '../../src/signatures/ssh/signature.ts'
import { fixture, payload, privateKeyFixture } from './fixtures.ts'

const blobOf = (line: string) => Buffer.from(line.split(' ')[1] ?? '', 'base64')
const fingerprintOf = (line: string) =>
  `SHA256:${createHash('sha256').update(blobOf(line)).digest('base64').replace(/=+$/, '')}`

test.each(['ssh-ed25519', 'ssh-rsab3072', 'ssh-ecdsab256', 'ssh-ecdsab384', 'ssh-ecdsab521'])(
  '%s: what ssh-keygen signed is verified',
  async (name) => {
    const signature = readSshSignature(await fixture(`${name}.sig`))
    expect(signature.fingerprint).toBe(fingerprintOf(await fixture(`${name}.pub`)))
    const signed = Buffer.from(await payload())
    expect(signature.isOver(signed)).toBe(true)
    expect(signature.isOver(Buffer.concat([signed, Buffer.from('\n')]))).toBe(false)
  },
)

test('both hashes are taken, another purpose than Git is not', async () => {
  expect(readSshSignature(await fixture('ssh-ed25519-sha256.sig')).isOver(await payload())).toBe(true)
  const other = await fixture('ssh-ed25519-file.sig')
  expect(() => readSshSignature(other)).toThrow('it was made for something else')
})

test('what is signed here is what ssh-keygen signs', async () => {
  const { kind, blob, key } = readSshPrivateKey(await privateKeyFixture('ssh-ed25519'))
  expect(Buffer.from(blob)).toEqual(blobOf(await fixture('ssh-ed25519.pub')))
  const sign = (bytes: Uint8Array) => signBytes(null, bytes, key)
  // Ed25519 signs the same text always in the same way.
  const ours = writeSshSignature(await payload(), { kind, blob, sign })
  expect(`${ours}\n`).toBe(await fixture('ssh-ed25519.sig'))
})

test.each([
  ['with a passphrase', 'ssh-passphrase', 'it has a passphrase'],
  ['of another kind', 'ssh-ecdsa', 'it is of another kind than Ed25519'],
])('a private key %s is refused', async (_, name, message) => {
  const text = await privateKeyFixture(name)
  expect(() => readSshPrivateKey(text)).toThrow(message)
})

test('a private key of which a part is changed or missing is refused', async () => {
  const text = await privateKeyFixture('ssh-ed25519')
  const { kind } = readSshPrivateKey(text)
  expect(kind).toBe('ssh-ed25519')
  expect(() => readSshPrivateKey(text.replace('OPENSSH', 'RSA'))).toThrow(SshKeyError)
  const bytes = Buffer.from(text.replace(/-----.*-----/g, ''), 'base64')
  for (let length = 0; length < bytes.length - 40; length += 7) {
    const cut = bytes.subarray(0, length).toString('base64')
    expect(() =>
      readSshPrivateKey(`-----BEGIN OPENSSH PRIVATE KEY-----\n${cut}\n-----END OPENSSH PRIVATE KEY-----\n`),
    ).toThrow(SshKeyError)
  }
})

test('every change of a signature and every beginning of it is no signature', async () => {
  const signed = await payload()
  const text = await fixture('ssh-ecdsab256.sig')
  const bytes = Buffer.from(text.replace(/-----.*-----/g, ''), 'base64')
  const isTaken = (changed: Uint8Array): boolean => {
    const lines = Buffer.from(changed).toString('base64')
    try {
      const signature = readSshSignature(`-----BEGIN SSH SIGNATURE-----\n${lines}\n-----END SSH SIGNATURE-----`)
      return signature.fingerprint === readSshSignature(text).fingerprint && signature.isOver(signed)
    } catch (error) {
      if (error instanceof SshKeyError) return false
      throw error
    }
  }
  expect(isTaken(bytes)).toBe(true)
  for (const at of bytes.keys()) {
    expect(isTaken(bytes.subarray(0, at))).toBe(false)
    const changed = Buffer.from(bytes)
    changed[at] = (bytes[at] ?? 0) ^ 0x41
    expect(isTaken(changed)).toBe(false)
  }
})

/** As a security token signs; none is at hand (OpenSSH, PROTOCOL.u2f). */
function tokenSignature(content: Uint8Array, flags: number): string {
  const kind = 'sk-ssh-ed25519@openssh.com'
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const point = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url')
  const blob = Buffer.concat([blobString(kind), blobString(point), blobString('ssh:')])
  const state = Buffer.from([flags, 0, 0, 0, 7])
  const sign = (bytes: Uint8Array) => {
    const summary = (part: Uint8Array) => createHash('sha256').update(part).digest()
    return signBytes(null, Buffer.concat([summary(Buffer.from('ssh:')), state, summary(bytes)]), privateKey)
  }
  const plain = writeSshSignature(content, { kind, blob, sign })
  return withState(plain, state)
}

/** The state of the token stands behind the signature proper, inside its string. */
function withState(armored: string, state: Uint8Array): string {
  const bytes = Buffer.from(armored.replace(/-----.*-----/g, ''), 'base64')
  const reader = new BlobReader(bytes.subarray(10))
  const parts = [reader.string(), reader.string(), reader.string(), reader.string()].map((part) => blobString(part))
  const signature = blobString(Buffer.concat([reader.string(), state]))
  const whole = Buffer.concat([bytes.subarray(0, 10), ...parts, signature])
  return `-----BEGIN SSH SIGNATURE-----\n${whole.toString('base64')}\n-----END SSH SIGNATURE-----`
}

test('a security token has to be touched', async () => {
  const content = await payload()
  expect(readSshSignature(tokenSignature(content, 1)).isOver(content)).toBe(true)
  expect(readSshSignature(tokenSignature(content, 5)).isOver(content)).toBe(true)
  expect(readSshSignature(tokenSignature(content, 0)).isOver(content)).toBe(false)
})
