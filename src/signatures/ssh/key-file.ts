import { ConfigError } from '../../config.ts'
import { SshKeyError } from '../../kernel/ssh-blob.ts'
import { errorCode, messageOf } from '../../kernel/thrown.ts'

/** What is read from the file that a setting names. @throws ConfigError when it cannot be read, or is no key */
export function fromKeyFile<Value>(setting: string, path: string, read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof SshKeyError) && errorCode(error) === undefined) throw error
    throw new ConfigError(
      `${setting}=${JSON.stringify(path)} cannot be used: ${messageOf(error)}. ` +
        "What it needs is made by: ssh-keygen -t ed25519 -N '' -f FILE",
    )
  }
}
