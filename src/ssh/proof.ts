import { utils } from 'ssh2'
import { blobString, SshKeyError } from '../kernel/ssh-blob.ts'
import { readSshKey } from '../signatures/ssh/public-key.ts'

/** A signature over this very connection (RFC 4252, 7), as the library hands it on. */
export interface Proof {
  /** Of the key: `ssh-rsa` also where the signature is of a newer algorithm. */
  kind: string
  key: Buffer
  signed: Buffer
  /** Without the name of its algorithm. */
  signature: Buffer
  /** For RSA: that of the algorithm; absent for the old one, SHA-1. */
  hash: string | undefined
}

/** Whether who connects holds the secret half of the key. */
export function isProven({ kind, key, signed, signature, hash }: Proof): boolean {
  if (kind.startsWith('sk-')) return isProvenByToken(kind, { key, signed, signature })
  // Of a kind that is not known, or a point of small order, for which anybody can sign.
  if (!isReadable(key)) return false
  const parsed = utils.parseKey(key)
  if (parsed instanceof Error || parsed.type !== kind) return false
  // RFC 8332: SHA-1 is broken.
  if (kind === 'ssh-rsa' && hash === undefined) return false
  return parsed.verify(signed, signature, hash) === true
}

function isReadable(key: Uint8Array): boolean {
  try {
    readSshKey(key)
    return true
  } catch (error) {
    if (error instanceof SshKeyError) return false
    throw error
  }
}

/** Flags and counter of a security token follow its signature (OpenSSH, PROTOCOL.u2f); the library knows nothing of them. */
const STATE_BYTES = 5

function isProvenByToken(kind: string, { key, signed, signature }: Omit<Proof, 'kind' | 'hash'>): boolean {
  const value = blobString(signature.subarray(0, -STATE_BYTES))
  const whole = Buffer.concat([blobString(kind), value, signature.subarray(-STATE_BYTES)])
  try {
    return readSshKey(key).hasSigned(signed, whole)
  } catch (error) {
    if (error instanceof SshKeyError) return false
    throw error
  }
}
