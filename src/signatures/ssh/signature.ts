import { createHash } from 'node:crypto'
import { BlobReader, blobString, SshKeyError } from '../../kernel/ssh-blob.ts'
import { fingerprintOf, readSshKey } from './public-key.ts'

/** What Git signs for; a signature made for anything else, such as a file or a login, is none of a commit. */
const NAMESPACE = 'git'
const MAGIC = 'SSHSIG'
const VERSION = 1
const BEGIN = '-----BEGIN SSH SIGNATURE-----'
const END = '-----END SSH SIGNATURE-----'
const hashes: readonly string[] = ['sha256', 'sha512']

/** A signature of `ssh-keygen -Y sign` (OpenSSH, PROTOCOL.sshsig). It carries the key that made it. */
export interface SshSignature {
  /** Of that key: who it belongs to is the question. */
  fingerprint: string
  isOver(content: Uint8Array): boolean
}

export const isSshSignature = (text: string): boolean => text.startsWith(BEGIN)

/** @throws SshKeyError for what is no such signature, or made for another purpose than Git */
export function readSshSignature(armored: string): SshSignature {
  const end = armored.indexOf(END)
  const encoded = armored.slice(BEGIN.length, Math.max(end, 0)).replace(/\s+/g, '')
  if (end < 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) throw new SshKeyError('it is no SSH signature')
  const bytes = Buffer.from(encoded, 'base64')
  if (bytes.toString('latin1', 0, MAGIC.length) !== MAGIC) throw new SshKeyError('it is no SSH signature')
  const reader = new BlobReader(bytes.subarray(MAGIC.length))
  if (reader.number() !== VERSION) throw new SshKeyError('it is of a version that is not known')
  const blob = reader.string()
  const namespace = reader.text()
  reader.string() // Reserved, and to be ignored.
  const hash = reader.text()
  const signature = reader.string()
  reader.end()
  if (namespace !== NAMESPACE) throw new SshKeyError('it was made for something else')
  if (!hashes.includes(hash)) throw new SshKeyError('its hash is not taken')
  return { fingerprint: fingerprintOf(blob), isOver: (content) => isSigned(blob, signedForm(content, hash), signature) }
}

/** The key is read as late as here, when it is known to be somebody's. */
function isSigned(blob: Uint8Array, signed: Uint8Array, signature: Uint8Array): boolean {
  try {
    return readSshKey(blob).hasSigned(signed, signature)
  } catch (error) {
    if (error instanceof SshKeyError) return false
    throw error
  }
}

/** What the key really signs: the hash of the content, with its purpose. */
function signedForm(content: Uint8Array, hash: string): Uint8Array {
  const digest = createHash(hash).update(content).digest()
  return Buffer.concat([
    Buffer.from(MAGIC),
    ...[NAMESPACE, '', hash].map((text) => blobString(text)),
    blobString(digest),
  ])
}

/** @param sign gives the raw signature of a key of this kind, named as its algorithm */
export function writeSshSignature(
  content: Uint8Array,
  { kind, blob, sign }: { kind: string; blob: Uint8Array; sign(bytes: Uint8Array): Uint8Array },
): string {
  const version = Buffer.alloc(4)
  version.writeUInt32BE(VERSION)
  const signature = Buffer.concat([blobString(kind), blobString(sign(signedForm(content, 'sha512')))])
  const bytes = Buffer.concat([
    Buffer.from(MAGIC),
    version,
    blobString(blob),
    ...[NAMESPACE, '', 'sha512'].map((text) => blobString(text)),
    blobString(signature),
  ])
  const lines = bytes.toString('base64').match(/.{1,70}/g) ?? []
  return [BEGIN, ...lines, END].join('\n')
}
