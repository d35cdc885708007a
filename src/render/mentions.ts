import { findAll } from './html/found.ts'

/** Names beyond this notify nobody. */
const MAX_NAMES = 50
/** A team with a longer name is not called. */
const MAX_TEAM = 101
/** As for the links of a text (see wanted.ts). */
const MAX_CHARACTERS = 128 * 1024

const FENCE = /^ {0,3}(`{3,}|~{3,})/

/** What stands behind the name of an organization, where one of its teams is called. */
const TEAM = /^\/[a-z\d](?:[\w.-]{0,98}\w)?/i

/**
 * The people that a text of markdown calls by `@name`, and the teams that it calls by `@organization/team`, in lower case. What stands in code
 * calls nobody.
 */
export function mentionedNames(source: string): string[] {
  if (!source.includes('@')) return []
  const text = withoutCode(source.slice(0, MAX_CHARACTERS))
  const names = new Set<string>()
  for (const found of findAll(text)) {
    if (found.kind !== 'user') continue
    const [team = ''] = TEAM.exec(text.slice(found.end, found.end + MAX_TEAM)) ?? []
    names.add(`${found.name}${team}`.toLowerCase())
    if (names.size === MAX_NAMES) break
  }
  return [...names]
}

/** Without fenced blocks and spans of code, read line by line: near enough, and linear in the length of the text. */
export function withoutCode(source: string): string {
  let fence: string | undefined
  const lines = source.split('\n').map((line) => {
    const mark = FENCE.exec(line)?.[1]
    if (fence === undefined && mark === undefined) return line.replace(/`[^`]*`/g, '`')
    if (fence === undefined) fence = mark
    else if (mark?.startsWith(fence)) fence = undefined
    return ''
  })
  return lines.join('\n')
}
