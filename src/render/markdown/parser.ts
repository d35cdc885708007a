import MarkdownItCallable, { type MarkdownIt } from 'markdown-it'
import anchors from 'markdown-it-anchor'
import type { Mode } from '../context.ts'
import { alerts } from './alerts.ts'
import { code } from './code.ts'
import { footnotes } from './footnotes.ts'
import { math } from './math.ts'
import { strike } from './strike.ts'
import { tasks } from './tasks.ts'

/** The parser of a mode. Each is made once: making one takes 1 ms, and it keeps no state between texts. */
export function parserOf(mode: Mode): MarkdownIt {
  const made = parsers.get(mode) ?? makeParser(mode)
  parsers.set(mode, made)
  return made
}

const parsers = new Map<Mode, MarkdownIt>()

function makeParser(mode: Mode): MarkdownIt {
  const isPlain = mode === 'markdown'
  const parser = new MarkdownItCallable({ html: true, breaks: mode === 'comment', linkify: false, maxNesting: 60 })
  // The sanitizer judges addresses. Refused here, they would show as broken markdown.
  parser.validateLink = () => true
  // GFM shows an address as it is written.
  parser.normalizeLinkText = (text) => text
  paragraphs(parser)
  strike(parser)
  tasks(parser)
  alerts(parser)
  math(parser)
  footnotes(parser)
  code(parser)
  if (!isPlain && mode !== 'comment') parser.use(anchors, { slugify, uniqueSlugStartIndex: 1, tabIndex: false })
  return parser
}

/** Wire: paragraphs and outermost lists find their own direction of writing. */
function paragraphs(parser: MarkdownIt): void {
  parser.core.ruler.push('directions', ({ tokens }) => {
    let lists = 0
    for (const token of tokens) {
      if (token.type === 'paragraph_open') token.attrSet('dir', 'auto')
      if (token.type === 'bullet_list_open' || token.type === 'ordered_list_open')
        if (lists++ === 0) token.attrSet('dir', 'auto')
      if (token.type === 'bullet_list_close' || token.type === 'ordered_list_close') lists--
    }
  })
  for (const [rule, name] of [
    ['th_open', 'th'],
    ['td_open', 'td'],
  ] as const)
    parser.renderer.rules[rule] = (tokens, index) => {
      const style = String(tokens[index]?.attrGet('style') ?? '')
      const align = /text-align:(\w+)/.exec(style)?.[1]
      return align ? `<${name} align="${align}">` : `<${name}>`
    }
}

/** Ids of headings as code forges make them: lower case, punctuation gone, spaces as hyphens. */
function slugify(title: string): string {
  const words = title
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
  return words.replaceAll(' ', '-') || 'heading'
}
