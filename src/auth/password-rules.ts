import { MAX_PASSWORD_BYTES } from './password.ts'

export type PasswordFault = 'too short' | 'too long'

/** What is wrong with a new password; undefined when it can be taken. Length counts code points, the limit bytes. */
export function passwordFault(
  { passwordMinLength }: { passwordMinLength: number },
  password: string,
): PasswordFault | undefined {
  if ([...password].length < passwordMinLength) return 'too short'
  return Buffer.byteLength(password) > MAX_PASSWORD_BYTES ? 'too long' : undefined
}
