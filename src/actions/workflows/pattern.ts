import { type Glob, GlobError, type GlobPart, globOf, MAX_GLOB_LENGTH } from '../../kernel/glob.ts'

const any = () => true
const isNoSlash = (character: string) => character !== '/'

/**
 * Reads one pattern of a filter, as GitHub documents them: `*` is anything but a slash, `**` anything, `?` and `+` repeat the character
 * before them at most once and at least once, `[a-z]` is one of these characters, and a backslash goes before what means itself.
 * `**` with a slash behind it may also be no folder at all. The whole text has to match, in time linear in its length.
 * @throws GlobError
 */
export function parsePattern(pattern: string): Glob {
  if (pattern.length > MAX_GLOB_LENGTH) throw new GlobError(`it is longer than ${MAX_GLOB_LENGTH} characters`)
  const text = [...pattern]
  const parts: GlobPart[] = []
  for (let at = 0; at < text.length; ) {
    const { part, length } = readPart(text, at)
    at += length
    const isRepeated = part.kind === 'one' && (text[at] === '?' || text[at] === '+')
    parts.push(...(isRepeated ? repeat(part, text[at]) : [part]))
    if (isRepeated) at += 1
  }
  return globOf(parts)
}

type One = Extract<GlobPart, { kind: 'one' }>

const repeat = (part: One, mark: string | undefined): GlobPart[] =>
  mark === '?' ? [{ kind: 'either', branches: [[part], []] }] : [part, { kind: 'many', accepts: part.accepts }]

function readPart(text: readonly string[], at: number): { part: GlobPart; length: number } {
  const character = text[at] ?? ''
  switch (character) {
    case '*':
      return readStars(text, at)
    case '[':
      return readClass(text, at)
    case '?':
    case '+':
      throw new GlobError(`nothing that can be repeated stands before \`${character}\``)
    case '\\': {
      const escaped = text[at + 1]
      if (escaped === undefined) throw new GlobError('nothing follows the last backslash')
      return { part: one((other) => other === escaped), length: 2 }
    }
    default:
      return { part: one((other) => other === character), length: 1 }
  }
}

const one = (accepts: (character: string) => boolean): One => ({ kind: 'one', accepts })

function readStars(text: readonly string[], at: number): { part: GlobPart; length: number } {
  if (text[at + 1] !== '*') return { part: { kind: 'many', accepts: isNoSlash }, length: 1 }
  const isFolders = text[at + 2] === '/' && (at === 0 || text[at - 1] === '/')
  if (!isFolders) return { part: { kind: 'many', accepts: any }, length: 2 }
  const folders: GlobPart[] = [{ kind: 'many', accepts: any }, one((character) => character === '/')]
  return { part: { kind: 'either', branches: [folders, []] }, length: 3 }
}

const RANGE = /^(?:[a-z]-[a-z]|[A-Z]-[A-Z]|[0-9]-[0-9])$/

function readClass(text: readonly string[], at: number): { part: GlobPart; length: number } {
  const end = text.indexOf(']', at + 1)
  const members = text.slice(at + 1, end)
  if (end === -1 || members.length === 0) throw new GlobError('a list of characters is empty or does not end')
  const ranges: [string, string][] = []
  for (let index = 0; index < members.length; ) {
    const low = members[index] ?? ''
    const high = members[index + 1] === '-' ? (members[index + 2] ?? low) : low
    if (high !== low && (!RANGE.test(`${low}-${high}`) || high < low))
      throw new GlobError(`\`${low}-${high}\` is no range of letters or digits`)
    ranges.push([low, high])
    index += members[index + 1] === '-' && members[index + 2] !== undefined ? 3 : 1
  }
  return {
    part: one((character) => ranges.some(([low, high]) => low <= character && character <= high)),
    length: end - at + 1,
  }
}

/** What is wrong with a pattern, with or without `!`; undefined where nothing is. */
export function patternProblem(pattern: string): string | undefined {
  try {
    parsePattern(pattern.replace(/^!/, ''))
    return undefined
  } catch (error) {
    if (error instanceof GlobError) return error.message
    throw error
  }
}

/** A list of patterns in which each overrules those before it: `!` takes away what an earlier one let in. */
export function parsePatterns(patterns: readonly string[]): Glob {
  const rules = patterns.map((pattern) => ({
    glob: parsePattern(pattern.replace(/^!/, '')),
    isIncluded: !pattern.startsWith('!'),
  }))
  return { matches: (text) => rules.findLast(({ glob }) => glob.matches(text))?.isIncluded ?? false }
}
