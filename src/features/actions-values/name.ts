import { badRequest } from '../../kernel/errors.ts'

const MAX_LENGTH = 255

/**
 * The name of a secret or a variable as it is stored: in capitals, since names that differ in case only are one.
 * @throws Refusal 400 for what no environment variable is called, and for the names that every job has from the service
 */
export function readName(text: string): string {
  const name = text.toUpperCase()
  if (!/^[A-Z_][A-Z0-9_]*$/.test(name) || name.length > MAX_LENGTH)
    throw badRequest(`invalid name: letters, digits and _, no digit first, at most ${MAX_LENGTH} characters`)
  if (/^(GITEA_|GITHUB_)/.test(name) || name === 'CI')
    throw badRequest('invalid name: CI and what begins with GITEA_ or GITHUB_ are set by the service')
  return name
}
