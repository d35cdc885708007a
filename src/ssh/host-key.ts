import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { utils } from 'ssh2'
import type { Config } from '../config.ts'
import { readOrMakeSecretFile } from '../kernel/secret-file.ts'
import { SshKeyError } from '../kernel/ssh-blob.ts'
import { fromKeyFile } from '../signatures/ssh/key-file.ts'
import { readSshPrivateKey } from '../signatures/ssh/private-key.ts'
import { fingerprintOf } from '../signatures/ssh/public-key.ts'

/** By which clients know the site again. */
export interface HostKey {
  /** In OpenSSH's form. */
  secret: string
  /** `SHA256:...`, which a client shows at its first connection. */
  fingerprint: string
}

const NAME = 'ssh_host_ed25519_key'

type Settings = Pick<Config, 'sshHostKey' | 'dataDir'>

export const hostKeyPath = ({ sshHostKey, dataDir }: Settings): string => sshHostKey ?? join(dataDir, NAME)

/** That of SSH_HOST_KEY, else the one in DATA_DIR, made at the first start. @throws ConfigError when it cannot be used */
export function loadHostKey(config: Settings): HostKey {
  const path = hostKeyPath(config)
  return fromKeyFile('SSH_HOST_KEY', path, () => {
    const secret =
      config.sshHostKey === undefined ? readOrMakeSecretFile(path, makeHostKey) : readFileSync(path, 'utf8')
    return { secret, fingerprint: fingerprintOf(readSshPrivateKey(secret).blob) }
  })
}

/** ssh2 drops a leading zero of either half, which spoils one pair in 128: such a pair is thrown away. */
export function makeHostKey(): string {
  for (;;) {
    const { private: secret } = utils.generateKeyPairSync('ed25519', { comment: 'hearth' })
    try {
      readSshPrivateKey(secret)
      return secret
    } catch (error) {
      if (!(error instanceof SshKeyError)) throw error
    }
  }
}
