import { createPrivateKey, type KeyObject } from 'node:crypto'
import { BlobReader, KeyFault } from '../../kernel/ssh-blob.ts'

const MAGIC = 'openssh-key-v1\0'
const KIND = 'ssh-ed25519'

export interface SshPrivateKey {
  kind: string
  /** The public key as SSH writes it. */
  blob: Uint8Array
  key: KeyObject
}

/**
 * Reads a file of `ssh-keygen -t ed25519 -N ''` (OpenSSH, PROTOCOL.key).
 * @throws KeyFault for anything else, also for one with a passphrase
 */
export function readSshPrivateKey(text: string): SshPrivateKey {
  const [, encoded = ''] =
    /^-----BEGIN OPENSSH PRIVATE KEY-----([A-Za-z0-9+/=\s]+)-----END OPENSSH PRIVATE KEY-----\s*$/.exec(text) ?? []
  const bytes = Buffer.from(encoded, 'base64')
  if (bytes.toString('latin1', 0, MAGIC.length) !== MAGIC) throw new KeyFault('it is no OpenSSH private key')
  const reader = new BlobReader(bytes.subarray(MAGIC.length))
  const cipher = reader.text()
  if (cipher !== 'none') throw new KeyFault('it has a passphrase')
  reader.string()
  reader.string()
  if (reader.number() !== 1) throw new KeyFault('it holds more than one key')
  const blob = reader.string()
  const secret = new BlobReader(reader.string())
  reader.end()
  const [check, again] = [secret.number(), secret.number()]
  if (check !== again) throw new KeyFault('it is damaged')
  if (secret.text() !== KIND) throw new KeyFault('it is of another kind than Ed25519')
  const [x, pair] = [secret.string(), secret.string()]
  const isWhole = x.length === 32 && pair.length === 64 && Buffer.from(blob).subarray(-32).equals(x)
  if (!isWhole) throw new KeyFault('it is damaged')
  const jwk = { kty: 'OKP', crv: 'Ed25519', d: base64url(pair.subarray(0, 32)), x: base64url(x) }
  return { kind: KIND, blob, key: createPrivateKey({ key: jwk, format: 'jwk' }) }
}

const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url')
