import { RE2JS, RE2JSException } from 're2js'
import type { BranchProtectionRow, ProtectionList, TagProtectionRow } from '../../../db/schema/protections.ts'
import { GlobError, parseGlob } from '../../kernel/glob.ts'

/** People and teams by their ids. */
export interface Listed {
  people: readonly number[]
  teams: readonly number[]
}

export interface BranchRule extends BranchProtectionRow {
  lists: Readonly<Record<ProtectionList, Listed>>
}

export interface TagRule extends TagProtectionRow {
  listed: Listed
}

/** Whether a rule is for one branch of just this name. */
export const isPlainName = (rule: string): boolean => !/[*?\\[{!]/.test(rule)

/** In the order in which rules count. */
export const sortRules = <Rule extends BranchProtectionRow>(rules: readonly Rule[]): Rule[] =>
  rules.toSorted(
    (one, other) =>
      one.priority - other.priority ||
      Number(isPlainName(other.ruleName)) - Number(isPlainName(one.ruleName)) ||
      one.id - other.id,
  )

/** The rule that holds for a branch. @param rules in the order in which they count */
export const findBranchRule = (rules: readonly BranchRule[], branch: string): BranchRule | undefined =>
  rules.find(({ ruleName }) => (isPlainName(ruleName) ? ruleName === branch : parseGlob(ruleName, '/').matches(branch)))

/** All that hold for a tag: one that lists who asks is enough. */
export const findTagRules = (rules: readonly TagRule[], tag: string): TagRule[] =>
  rules.filter(({ namePattern }) => matchesTag(namePattern, tag))

/** Wire: in patterns of tags `*` passes slashes. An expression is RE2, which takes a time linear in the name. */
function matchesTag(pattern: string, tag: string): boolean {
  const expression = expressionIn(pattern)
  return expression === undefined ? parseGlob(pattern).matches(tag) : RE2JS.compile(expression).matcher(tag).find()
}

const expressionIn = (pattern: string): string | undefined => /^\/(.+)\/$/s.exec(pattern)?.[1]

/** What is wrong with the name of a rule for branches; undefined when nothing is. */
export const faultInRuleName = (name: string): string | undefined =>
  isPlainName(name) ? undefined : faultIn(() => parseGlob(name, '/'))

/** The same for the pattern of a rule for tags. */
export function faultInTagPattern(pattern: string): string | undefined {
  const expression = expressionIn(pattern)
  return faultIn(() => (expression === undefined ? parseGlob(pattern) : RE2JS.compile(expression)))
}

const MAX_FILE_PATTERNS = 100

/** The same for the patterns of files. */
export function faultInFilePatterns(text: string): string | undefined {
  const patterns = splitPatterns(text)
  if (patterns.length > MAX_FILE_PATTERNS) return `at most ${MAX_FILE_PATTERNS} patterns`
  return patterns.map((pattern) => faultIn(() => parseGlob(pattern, '/'))).find((fault) => fault !== undefined)
}

function faultIn(parse: () => unknown): string | undefined {
  try {
    parse()
    return undefined
  } catch (error) {
    if (error instanceof GlobError || error instanceof RE2JSException) return error.message
    throw error
  }
}

/** Wire: the case of letters does not count in names of files, since it does not on the disks of many who clone. */
const splitPatterns = (text: string): string[] =>
  text
    .split(';')
    .map((pattern) => pattern.trim().toLowerCase())
    .filter((pattern) => pattern !== '')

/** Tells of each path whether a pattern among `text` fits it. */
export function filePatterns(text: string): (path: string) => boolean {
  const globs = splitPatterns(text).map((pattern) => parseGlob(pattern, '/'))
  return (path) => globs.some((glob) => glob.matches(path.toLowerCase()))
}
