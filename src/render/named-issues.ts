import { findAll } from './html/found.ts'
import { withoutCode } from './mentions.ts'

/** What the word before the name of an issue asks for. */
export type ReferenceAction = 'none' | 'closes' | 'reopens'

/** An issue that a text names; without a repository it is of the text's own. */
export interface NamedIssue {
  /** In lower case. */
  repository: { owner: string; name: string } | undefined
  number: number
  action: ReferenceAction
}

/** Issues beyond this are not referred to. */
const MAX_NAMED = 50
/** As for people that a text calls. */
const MAX_CHARACTERS = 128 * 1024
const MAX_NUMBER = 2_147_483_647

/** The longest word that asks for something, with a colon and a blank. */
const WORD_LENGTH = 12
const CLOSES = /(?:^|[^\w-])(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+$/i
const REOPENS = /(?:^|[^\w-])reopen(?:s|ed)?:?\s+$/i

/** Whether a text may name an issue: what has no such sign need not be read. */
export const mayNameIssues = (text: string): boolean => /[#!]\d/.test(text)

/** The issues that a text of markdown names as `#12`, `!12` or `owner/repo#12`, each once. What stands in code names none. */
export const issuesNamedIn = (markdown: string): NamedIssue[] =>
  mayNameIssues(markdown) ? read(withoutCode(markdown.slice(0, MAX_CHARACTERS))) : []

/** The same of plain text, such as the message of a commit. */
export const issuesNamedInPlain = (text: string): NamedIssue[] =>
  mayNameIssues(text) ? read(text.slice(0, MAX_CHARACTERS)) : []

function read(text: string): NamedIssue[] {
  const named = new Map<string, NamedIssue>()
  for (const found of findAll(text)) {
    if (found.kind !== 'issue' || found.index === 0 || found.index > MAX_NUMBER) continue
    const { owner, repo, index: number } = found
    const repository = owner && repo ? { owner: owner.toLowerCase(), name: repo.toLowerCase() } : undefined
    const key = `${repository?.owner}/${repository?.name}#${number}`
    const action = actionBefore(text, found.start)
    const known = named.get(key)
    if (known === undefined && named.size < MAX_NAMED) named.set(key, { repository, number, action })
    else if (known?.action === 'none') known.action = action
  }
  return [...named.values()]
}

function actionBefore(text: string, at: number): ReferenceAction {
  const before = text.slice(Math.max(0, at - WORD_LENGTH), at)
  return CLOSES.test(before) ? 'closes' : REOPENS.test(before) ? 'reopens' : 'none'
}
