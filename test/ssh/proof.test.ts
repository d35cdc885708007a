import { expect, test } from 'bun:test'
import { randomBytes, sign } from 'node:crypto'
import { utils } from 'ssh2'
import { blobString } from '../../src/kernel/ssh-blob.ts'
import { isProven } from '../../src/ssh/proof.ts'

function keyOf(pair: { private: string }) {
  const key = utils.parseKey(pair.private)
  if (key instanceof Error) throw key
  return { kind: key.type, key: key.getPublicSSH(), sign: (bytes: Buffer) => key.sign(bytes), pem: key.getPrivatePEM() }
}

test('RSA signs with SHA-2, never with SHA-1', () => {
  const { kind, key, pem } = keyOf(utils.generateKeyPairSync('rsa', { bits: 2048 }))
  const signed = randomBytes(100)
  const by = (hash: string) => sign(hash, signed, pem)
  expect(isProven({ kind, key, signed, signature: by('sha256'), hash: 'sha256' })).toBe(true)
  expect(isProven({ kind, key, signed, signature: by('sha512'), hash: 'sha512' })).toBe(true)
  expect(isProven({ kind, key, signed, signature: by('sha256'), hash: 'sha512' })).toBe(false)
  expect(isProven({ kind, key, signed, signature: by('sha1'), hash: undefined })).toBe(false)
})

test('a point of small order proves nothing, although a library takes what nobody has signed', () => {
  const kind = 'ssh-ed25519'
  const point = Buffer.from(`01${'00'.repeat(31)}`, 'hex')
  const key = Buffer.concat([blobString(kind), blobString(point)])
  // R is the neutral point and S is 0: right for every text.
  const signature = Buffer.concat([point, Buffer.alloc(32)])
  const parsed = utils.parseKey(key)
  if (parsed instanceof Error) throw parsed
  const signed = randomBytes(100)
  expect(parsed.verify(signed, signature)).toBe(true)
  expect(isProven({ kind, key, signed, signature, hash: undefined })).toBe(false)
})

test('a signature is of these bytes, by this key, of its own kind', () => {
  const [one, other] = [keyOf(utils.generateKeyPairSync('ed25519')), keyOf(utils.generateKeyPairSync('ed25519'))]
  const signed = randomBytes(100)
  const proof = { kind: one.kind, key: one.key, signed, signature: one.sign(signed), hash: undefined }
  expect(isProven(proof)).toBe(true)
  expect(isProven({ ...proof, signed: randomBytes(100) })).toBe(false)
  expect(isProven({ ...proof, key: other.key })).toBe(false)
  expect(isProven({ ...proof, kind: 'ecdsa-sha2-nistp256' })).toBe(false)
  expect(isProven({ ...proof, kind: 'sk-ssh-ed25519@openssh.com' })).toBe(false)
  expect(isProven({ ...proof, key: Buffer.from('nothing') })).toBe(false)
  for (const length of [0, 1, 63, 65]) expect(isProven({ ...proof, signature: randomBytes(length) })).toBe(false)
})
