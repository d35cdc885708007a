import { dictionary } from '@zxcvbn-ts/language-common'
import { MAX_PASSWORD_BYTES } from './password.ts'

export type PasswordProblem = 'too short' | 'too long' | 'common'

/**
 * What is wrong with a new password; undefined when it can be taken. No mix of letters and signs is asked for (NIST SP 800-63B,
 * 3.1.1.2): length, and not being among those that everybody tries first. Length counts code points, the limit bytes; the text is
 * hashed as it was sent.
 */
export function passwordProblem(
  { passwordMinLength }: { passwordMinLength: number },
  password: string,
): PasswordProblem | undefined {
  if (Buffer.byteLength(password) > MAX_PASSWORD_BYTES) return 'too long'
  if ([...password].length < passwordMinLength) return 'too short'
  return commonPasswords().has(password.toLowerCase()) ? 'common' : undefined
}

/** Shorter ones are refused for their length anyway, unless the site allows them. */
let common: ReadonlySet<string> | undefined
function commonPasswords(): ReadonlySet<string> {
  common ??= new Set(dictionary['passwords-common'])
  return common
}
