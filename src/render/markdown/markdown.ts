import type { Mode } from '../context.ts'
import { splitFrontMatter } from './front-matter.ts'
import { parserOf } from './parser.ts'

export interface MarkdownOptions {
  mode: Mode
  isColoured: boolean
}

/** Markdown as HTML that is not yet safe: raw HTML of the text is in it. */
export function renderMarkdown(source: string, { mode, isColoured }: MarkdownOptions): string {
  const text = source.replace(/\r\n?/g, '\n')
  const { head, body } = mode === 'comment' ? { head: '', body: text } : splitFrontMatter(text)
  const skippedLines = text.slice(0, text.length - body.length).split('\n').length - 1
  // What the rules of code and tasks need to know besides the body.
  return head + parserOf(mode).render(body, { source, skippedLines, isColoured })
}
