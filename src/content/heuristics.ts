import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

const Patterns = Type.Optional(Type.Union([Type.String(), Type.Array(Type.String())]))
const Condition = Type.Object({
  pattern: Patterns,
  negative_pattern: Patterns,
  named_pattern: Type.Optional(Type.String()),
})
const Rule = Type.Composite([
  Condition,
  Type.Object({
    language: Type.Optional(Type.Union([Type.String(), Type.Array(Type.String())])),
    and: Type.Optional(Type.Array(Condition)),
  }),
])
const HeuristicsFile = Type.Object({
  disambiguations: Type.Array(Type.Object({ extensions: Type.Array(Type.String()), rules: Type.Array(Rule) })),
  named_patterns: Type.Record(Type.String(), Type.Union([Type.String(), Type.Array(Type.String())])),
})

type ConditionText = typeof Condition.static

/** Chooses among the languages of one extension by a sample of the file; undefined when no rule matches. */
export type Heuristic = (sample: string) => string | undefined

/** Linguist's rules by extension. Patterns are compiled when their extension is first met. */
export function readHeuristics(file: unknown): ReadonlyMap<string, Heuristic> {
  if (!Value.Check(HeuristicsFile, file)) throw new Error('the heuristics have an unknown form')
  const heuristics = new Map<string, Heuristic>()
  for (const { extensions, rules } of file.disambiguations) {
    let compiled: { language: string | undefined; fits: (sample: string) => boolean }[] | undefined
    const choose: Heuristic = (sample) => {
      compiled ??= rules.map(({ language, and = [], ...own }) => {
        const conditions = [own, ...and].map((condition) => compile(condition, file.named_patterns))
        return { language: [language ?? []].flat()[0], fits: (text) => conditions.every((fits) => fits(text)) }
      })
      return compiled.find(({ fits }) => fits(sample))?.language
    }
    for (const extension of extensions) heuristics.set(extension.toLowerCase(), choose)
  }
  return heuristics
}

function compile(
  { pattern = [], negative_pattern = [], named_pattern }: ConditionText,
  named: Readonly<Record<string, string | string[]>>,
): (sample: string) => boolean {
  const wanted = [pattern, named_pattern === undefined ? [] : (named[named_pattern] ?? [])].flat(2).map(toRegExp)
  const unwanted = [negative_pattern].flat().map(toRegExp)
  return (sample) =>
    (wanted.length === 0 || wanted.some((each) => each?.test(sample))) && !unwanted.some((each) => each?.test(sample))
}

/** A pattern of Ruby's dialect; undefined for the few that JavaScript does not have, which then match nothing. */
function toRegExp(text: string): RegExp | undefined {
  const [head = '', anchor = '', flags = ''] = /^(\^?)\(\?([a-z-]+)\)/.exec(text) ?? []
  if (flags.includes('x')) return undefined
  const body = anchor + text.slice(head.length)
  const pattern = body
    .replaceAll('\\A', '(?<![\\s\\S])')
    .replace(/\\[zZ]/g, '(?![\\s\\S])')
    .replaceAll('(?>', '(?:')
  const dotAll = flags.split('-')[0]?.includes('m') ? 's' : ''
  try {
    return new RegExp(pattern, `m${flags.split('-')[0]?.includes('i') ? 'i' : ''}${dotAll}`)
  } catch {
    return undefined
  }
}
