import { sign as signBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { signingAddress } from '../access/service-addresses.ts'
import type { Config } from '../config.ts'
import { fromKeyFile } from './ssh/key-file.ts'
import { readSshPrivateKey, type SshPrivateKey } from './ssh/private-key.ts'
import { fingerprintOf } from './ssh/public-key.ts'
import { writeSshSignature } from './ssh/signature.ts'

/** How the instance signs the commits that it makes itself, and which signatures are its own. */
export interface InstanceSigning {
  name: string
  email: string
  /** Undefined without SIGNING_KEY. */
  key: InstanceKey | undefined
  /** Whether a fingerprint is that of the key, or of an earlier one. */
  isOwn(fingerprint: string): boolean
}

export interface InstanceKey {
  /** A line as in authorized_keys. */
  publicKey: string
  fingerprint: string
  /** The armored signature, for Git. */
  sign(content: Uint8Array): string
}

type Settings = Pick<Config, 'signingKey' | 'signingName' | 'signingEmail' | 'trustedSigningKeys' | 'noreplyDomain'>

/** @throws ConfigError when the file cannot be read or holds no key that can be used */
export function loadInstanceSigning(config: Settings): InstanceSigning {
  const { signingName: name, trustedSigningKeys } = config
  const email = signingAddress(config)
  const key = config.signingKey === undefined ? undefined : keyOf(readKey(config.signingKey), email)
  const own = new Set([...trustedSigningKeys, ...(key ? [key.fingerprint] : [])])
  return { name, email, key, isOwn: (fingerprint) => own.has(fingerprint) }
}

const readKey = (path: string): SshPrivateKey =>
  fromKeyFile('SIGNING_KEY', path, () => readSshPrivateKey(readFileSync(path, 'utf8')))

function keyOf({ kind, blob, key }: SshPrivateKey, email: string): InstanceKey {
  const sign = (bytes: Uint8Array): Uint8Array => signBytes(null, bytes, key)
  return {
    publicKey: `${kind} ${Buffer.from(blob).toString('base64')} ${email}`,
    fingerprint: fingerprintOf(blob),
    sign: (content) => writeSshSignature(content, { kind, blob, sign }),
  }
}
