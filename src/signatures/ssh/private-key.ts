import { createPrivateKey, type KeyObject } from 'node:crypto'
import { utils } from 'ssh2'
import { SshKeyError } from '../../kernel/ssh-blob.ts'

const KIND = 'ssh-ed25519'

export interface SshPrivateKey {
  kind: string
  /** The public key as SSH writes it. */
  blob: Uint8Array
  key: KeyObject
}

/**
 * Reads a file of `ssh-keygen -t ed25519 -N ''`.
 * @throws SshKeyError for anything else, also for one with a passphrase
 */
export function readSshPrivateKey(text: string): SshPrivateKey {
  const parsed = utils.parseKey(text)
  if (parsed instanceof Error)
    throw new SshKeyError(/encrypted/i.test(parsed.message) ? 'it has a passphrase' : 'it is no OpenSSH private key')
  if (!parsed.isPrivateKey()) throw new SshKeyError('it is no OpenSSH private key')
  if (parsed.type !== KIND) throw new SshKeyError('it is of another kind than Ed25519')
  // The library does not compare the two halves.
  const probe = Buffer.from('probe')
  if (parsed.verify(probe, parsed.sign(probe)) !== true) throw new SshKeyError('it is damaged')
  return { kind: KIND, blob: parsed.getPublicSSH(), key: createPrivateKey(parsed.getPrivatePEM()) }
}
