/** Bytes of one part of a ref name: it is a file name, and git appends `.lock` to it. */
const MAX_PART_BYTES = 250
const MAX_NAME_BYTES = 1000

/** Control characters, space and the signs that git's revision syntax uses (git-check-ref-format(1), rules 4 and 5). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the rule is about control characters
const FORBIDDEN = /[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{/

/** A full ref name that git accepts (git-check-ref-format(1)), below `refs/` and in well-formed Unicode. */
export function isValidRefName(name: string): boolean {
  if (!name.startsWith('refs/') || !name.isWellFormed() || name.includes('\ufffd')) return false
  if (FORBIDDEN.test(name) || name.endsWith('.') || Buffer.byteLength(name) > MAX_NAME_BYTES) return false
  const parts = name.split('/')
  if (parts.length < 3) return false
  // `refs/heads/-x` is legal to git, but a name that reads as an option waits for a careless command line.
  return parts.every(isValidPart) && !parts[2]?.startsWith('-')
}

function isValidPart(part: string): boolean {
  return part !== '' && !part.startsWith('.') && !part.endsWith('.lock') && Buffer.byteLength(part) <= MAX_PART_BYTES
}

/** Unicode's controls of direction: with them a name reads on the screen as another one (CVE-2021-42574). */
const DIRECTION = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/

/** A short name that is confused with no other: not with the real `HEAD`, not with a full name, and not by how it looks. */
const isDistinct = (name: string): boolean =>
  name !== 'HEAD' && name !== '@' && !name.startsWith('refs/') && !DIRECTION.test(name)

/** The short name that a branch may be given. */
export const isValidBranchName = (name: string): boolean => isDistinct(name) && isValidRefName(`refs/heads/${name}`)

/** The short name that a tag may be given. */
export const isValidTagName = (name: string): boolean => isDistinct(name) && isValidRefName(`refs/tags/${name}`)

export const isObjectId = (text: string): boolean => /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text)

/** Steps behind a name: `^`, `^2`, `~10`, `^{commit}`. Searches (`^{/text}`, `:/text`) cost a walk of the history and are no part. */
const STEPS = /^(?:\^\d{0,2}|~\d{0,6}|\^\{(?:commit|tree|blob|tag|object)?\})*$/

/**
 * The unambiguous names that a revision may stand for, best first: a branch, a tag, an abbreviated id. Git's own order would look
 * for a file of that name in the folder of the repository first. Undefined when the text cannot be a revision.
 */
export function revisionCandidates(revision: string): string[] | undefined {
  if (revision.length > MAX_NAME_BYTES) return undefined
  const at = revision.search(/[~^]/)
  const base = at < 0 ? revision : revision.slice(0, at)
  const steps = at < 0 ? '' : revision.slice(at)
  if (!STEPS.test(steps) || steps.length > 64) return undefined
  if (base === 'HEAD' || isObjectId(base)) return [base + steps]
  if (base.startsWith('refs/')) return isValidRefName(base) ? [base + steps] : undefined
  if (!isValidRefName(`refs/heads/${base}`)) return undefined
  const names = [`refs/heads/${base}`, `refs/tags/${base}`]
  if (/^[0-9a-fA-F]{4,64}$/.test(base)) names.push(base)
  return names.map((name) => name + steps)
}
