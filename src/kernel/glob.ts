export const MAX_GLOB_LENGTH = 256
/** Braces within braces. */
const MAX_DEPTH = 4

/** A pattern that is none, with a reason that a client may read. */
export class GlobError extends Error {}

export interface Glob {
  matches(text: string): boolean
}

/** One character, any number of them, or one of several continuations. */
export type GlobPart =
  | { kind: 'one'; accepts: (character: string) => boolean }
  | { kind: 'many'; accepts: (character: string) => boolean }
  | { kind: 'either'; branches: GlobPart[][] }

type State =
  | { accepts: (character: string) => boolean; next: number; isLoop: boolean }
  | { branches: number[] }
  | { isEnd: true }

/**
 * Reads a glob: `*` and `**`, `?`, `[a-z]`, `[!a]`, `{one,two}`, and a backslash before what means itself. Matching takes a time
 * linear in the text for any pattern: all ways through it are followed at once.
 * @param separator a character that only `**` passes; without it `*` passes everything
 * @throws GlobError for a pattern that is broken, too long or too deep
 */
export function parseGlob(pattern: string, separator?: string): Glob {
  if (pattern.length > MAX_GLOB_LENGTH) throw new GlobError(`longer than ${MAX_GLOB_LENGTH} characters`)
  return globOf(new Reader([...pattern], separator).sequence(0))
}

/** For patterns of another syntax. */
export function globOf(parts: readonly GlobPart[]): Glob {
  const states: State[] = [{ isEnd: true }]
  const start = compile(parts, 0, states)
  return { matches: (text) => run(states, start, text) }
}

class Reader {
  private at = 0
  private readonly text: readonly string[]
  private readonly separator: string | undefined

  constructor(text: readonly string[], separator: string | undefined) {
    this.text = text
    this.separator = separator
  }

  /** Up to the end, or within braces to the next comma or closing brace. */
  sequence(depth: number): GlobPart[] {
    const parts: GlobPart[] = []
    for (;;) {
      const character = this.text[this.at]
      if (character === undefined || (depth > 0 && (character === ',' || character === '}'))) return parts
      this.at += 1
      parts.push(this.part(character, depth))
    }
  }

  private part(character: string, depth: number): GlobPart {
    switch (character) {
      case '*':
        return { kind: 'many', accepts: this.stars() }
      case '?':
        return { kind: 'one', accepts: (one) => one !== this.separator }
      case '[':
        return { kind: 'one', accepts: this.characterClass() }
      case '{':
        return this.alternatives(depth + 1)
      case '\\': {
        const escaped = this.text[this.at]
        if (escaped === undefined) throw new GlobError('nothing follows the last backslash')
        this.at += 1
        return { kind: 'one', accepts: (one) => one === escaped }
      }
      default:
        return { kind: 'one', accepts: (one) => one === character }
    }
  }

  private stars(): (character: string) => boolean {
    let isDouble = false
    while (this.text[this.at] === '*') {
      isDouble = true
      this.at += 1
    }
    return (one) => isDouble || one !== this.separator
  }

  private characterClass(): (character: string) => boolean {
    const isNegated = this.text[this.at] === '!' || this.text[this.at] === '^'
    if (isNegated) this.at += 1
    const ranges: [string, string][] = []
    for (;;) {
      const first = this.classMember()
      if (first === ']' && ranges.length > 0) break
      const isRange = this.text[this.at] === '-' && this.text[this.at + 1] !== ']'
      if (isRange) this.at += 1
      const last = isRange ? this.classMember() : first
      if (last < first) throw new GlobError('a range of a character class runs backwards')
      ranges.push([first, last])
    }
    return (one) => one !== this.separator && ranges.some(([low, high]) => low <= one && one <= high) !== isNegated
  }

  private classMember(): string {
    const character = this.text[this.at]
    if (character === undefined) throw new GlobError('unterminated character class')
    this.at += 1
    return character
  }

  private alternatives(depth: number): GlobPart {
    if (depth > MAX_DEPTH) throw new GlobError(`more than ${MAX_DEPTH} braces within each other`)
    const branches: GlobPart[][] = []
    for (;;) {
      branches.push(this.sequence(depth))
      const end = this.text[this.at]
      if (end === undefined) throw new GlobError('unterminated braces')
      this.at += 1
      if (end === '}') return { kind: 'either', branches }
    }
  }
}

/** Adds the states of the parts, from the last to the first, and returns the one to begin with. */
function compile(parts: readonly GlobPart[], after: number, states: State[]): number {
  return parts.reduceRight((next, part) => {
    if (part.kind === 'either')
      return add(states, { branches: part.branches.map((branch) => compile(branch, next, states)) })
    return add(states, { accepts: part.accepts, next, isLoop: part.kind === 'many' })
  }, after)
}

const add = (states: State[], state: State): number => states.push(state) - 1

function run(states: readonly State[], start: number, text: string): boolean {
  let current = reach(states, [start])
  for (const character of text) {
    const next: number[] = []
    for (const index of current) {
      const state = states[index]
      if (state && 'accepts' in state && state.accepts(character)) next.push(state.isLoop ? index : state.next)
    }
    if (next.length === 0) return false
    current = reach(states, next)
  }
  return current.has(0)
}

/** With what can be reached without reading a character. */
function reach(states: readonly State[], from: readonly number[]): Set<number> {
  const found = new Set<number>()
  const waiting = [...from]
  for (let index = waiting.pop(); index !== undefined; index = waiting.pop()) {
    if (found.has(index)) continue
    found.add(index)
    const state = states[index]
    if (!state || 'isEnd' in state) continue
    if ('branches' in state) waiting.push(...state.branches)
    else if (state.isLoop) waiting.push(state.next)
  }
  return found
}
