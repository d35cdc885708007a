import type { MarkdownIt } from 'markdown-it'
import { escapeHtml } from '../../kernel/html.ts'
import { highlight } from '../highlight.ts'

const COLOR = /^(?:#[0-9a-f]{3}|#[0-9a-f]{6}|#[0-9a-f]{8}|(?:rgb|hsl)a?\([\d\s.,%]{3,40}\))$/i

/** Fenced code, marked with its language and coloured if wanted; a color in code gets a sample of itself. */
export function code(parser: MarkdownIt): void {
  parser.renderer.rules.fence = (tokens, index, _options, env) => {
    const { content = '', info = '' } = tokens[index] ?? {}
    const language = languageOf(parser.utils.unescapeAll(info.trim()))
    if (language === '') return `<div class="code-block"><pre><code>${escapeHtml(content)}</code></pre></div>\n`
    // Wire: diagrams and formulas are left for the page to draw.
    const isDrawn = language === 'mermaid' || language === 'math'
    const coloured = env?.isColoured === true && !isDrawn ? highlight(content, language.toLowerCase()) : undefined
    const classes = `language-${language}${language === 'math' ? ' display' : ''}`
    return `<div class="code-block"><pre><code class="${classes}">${coloured ?? escapeHtml(content)}</code></pre></div>\n`
  }
  parser.renderer.rules.code_inline = (tokens, index) => {
    const content = tokens[index]?.content ?? ''
    const sample = COLOR.test(content) ? `<span style="background-color: ${content}"></span>` : ''
    return `<code>${escapeHtml(content)}${sample}</code>`
  }
}

/** The first word after the fence. Words that could not be a class as they stand name no language. */
function languageOf(info: string): string {
  return /^([\w+#.-]{1,40})(?:[{,:\s]|$)/.exec(info)?.[1] ?? ''
}
