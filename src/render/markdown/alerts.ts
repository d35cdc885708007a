import type { MarkdownIt, Token } from 'markdown-it'

const MARK = /^\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\][ \t]*(?:\n|$)/i

/** Quotes that start with a line such as `[!NOTE]` become alerts with a heading of their own. */
export function alerts(parser: MarkdownIt): void {
  parser.core.ruler.before('inline', 'alerts', ({ tokens }) => {
    for (let index = 0; index + 2 < tokens.length; index++) {
      const quote = tokens[index]
      const inline = tokens[index + 2]
      if (quote?.type !== 'blockquote_open' || tokens[index + 1]?.type !== 'paragraph_open' || !inline) continue
      const kind = MARK.exec(inline.content)?.[1]?.toLowerCase()
      if (kind) mark(quote, inline, kind)
    }
  })
  const quoteOpen = parser.renderer.rules.blockquote_open
  parser.renderer.rules.blockquote_open = (tokens, index, options, env, renderer) => {
    const alert: unknown = tokens[index]?.meta?.alert
    if (typeof alert !== 'string')
      return quoteOpen?.(tokens, index, options, env, renderer) ?? renderer.renderToken(tokens, index, options)
    const title = alert.charAt(0).toUpperCase() + alert.slice(1)
    const head = `<p dir="auto" class="alert-title"><strong>${title}</strong></p>`
    return `<blockquote class="alert alert-${alert}">${head}\n`
  }
}

function mark(quote: Token, inline: Token, kind: string): void {
  quote.meta = { ...quote.meta, alert: kind }
  inline.content = inline.content.replace(MARK, '')
}
