import { escapeHtml } from '../../kernel/html.ts'
import { type MarkdownOptions, renderMarkdown } from '../markdown/markdown.ts'
import { renderAsciidoc } from './asciidoc.ts'
import { renderCsv } from './csv.ts'
import { renderOrg } from './org.ts'
import { renderRst } from './rst.ts'

/** The forms of text that can be shown as a page. */
export type Markup = 'markdown' | 'asciidoc' | 'org' | 'rst' | 'csv' | 'tsv' | 'text'

const BY_EXTENSION: Readonly<Record<string, Markup>> = {
  md: 'markdown',
  markdown: 'markdown',
  mdown: 'markdown',
  mkd: 'markdown',
  livemd: 'markdown',
  adoc: 'asciidoc',
  asciidoc: 'asciidoc',
  asc: 'asciidoc',
  org: 'org',
  csv: 'csv',
  tsv: 'tsv',
  txt: 'text',
  text: 'text',
  rst: 'rst',
  rest: 'rst',
}

/** By the ending of a file's name; undefined when it has no form that can be shown as a page. */
export function markupOf(path: string): Markup | undefined {
  const extension = /\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase() ?? ''
  return Object.hasOwn(BY_EXTENSION, extension) ? BY_EXTENSION[extension] : undefined
}

/** HTML that is not yet safe. */
export function renderMarkup(source: string, markup: Markup, options: MarkdownOptions): string | Promise<string> {
  switch (markup) {
    case 'markdown':
      return renderMarkdown(source, options)
    case 'asciidoc':
      return renderAsciidoc(source)
    case 'org':
      return renderOrg(source, options)
    case 'rst':
      return renderRst(source, options)
    case 'csv':
      return renderCsv(source)
    case 'tsv':
      return renderCsv(source, '\t')
    case 'text':
      return renderText(source)
  }
}

export const renderText = (source: string): string => `<pre>${escapeHtml(source)}</pre>`
