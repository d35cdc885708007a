import { badRequest, invalid } from '../../kernel/errors.ts'

const MAX_NAME_LENGTH = 255

/** Controls, and Unicode's controls of direction: with them a name reads on the screen as another one (CVE-2021-42574). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the rule is about control characters
const HIDDEN = /[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufffd]/

/** Without folders and blanks around it. */
export const bareName = (sent: string): string =>
  sent.slice(Math.max(sent.lastIndexOf('/'), sent.lastIndexOf('\\')) + 1).trim()

/**
 * The name that a file is stored under. Folders in it are dropped.
 * @throws Refusal 400 without a name, 422 for one that cannot be or whose ending is not allowed
 */
export function readName(sent: string, allowedEndings: readonly string[]): string {
  const name = bareName(sent)
  if (name === '') throw badRequest('Could not determine name of attachment.')
  if (name.length > MAX_NAME_LENGTH) throw invalid(`the name of a file has at most ${MAX_NAME_LENGTH} characters`)
  if (name === '.' || name === '..' || !name.isWellFormed() || HIDDEN.test(name))
    throw invalid('the name of a file holds no control characters')
  const lower = name.toLowerCase()
  if (allowedEndings.length > 0 && !allowedEndings.some((ending) => lower.endsWith(ending.toLowerCase())))
    throw invalid('This file cannot be uploaded or modified due to a forbidden file extension or type.')
  return name
}
