import type { MarkdownIt, Token } from 'markdown-it'
import plugin from 'markdown-it-footnote'

/** Footnotes with Gitea's ids: a prefix keeps them apart from the ids of the page. */
export function footnotes(parser: MarkdownIt): void {
  parser.use(plugin)
  // `^[text]` inside a sentence is no part of GFM.
  parser.inline.ruler.disable('footnote_inline')
  Object.assign(parser.renderer.rules, {
    footnote_ref: (tokens: Token[], index: number) => {
      const { number, id, ref } = names(tokens[index])
      return `<sup id="${ref}"><a href="#fn:${id}" rel="nofollow">${number} </a></sup>`
    },
    footnote_block_open: () => '<div class="footnotes">\n<hr>\n<ol>\n',
    footnote_block_close: () => '</ol>\n</div>\n',
    footnote_open: (tokens: Token[], index: number) => `<li id="fn:${names(tokens[index]).id}">\n`,
    footnote_close: () => '</li>\n',
    footnote_anchor: (tokens: Token[], index: number) => ` <a href="#${names(tokens[index]).ref}" rel="nofollow">↩︎</a>`,
  })
}

/** Wire: a note is named by its label, and a second reference to it counts in the name of its id. */
function names(token: Token | undefined): { number: number; id: string; ref: string } {
  const meta: Record<string, unknown> = token?.meta ?? {}
  const number = Number(meta.id ?? 0) + 1
  const sub = Number(meta.subId ?? 0)
  const label = typeof meta.label === 'string' ? meta.label.replace(/[^\p{L}\p{N}_.-]/gu, '-') : String(number)
  const id = `user-content-${label.slice(0, 100)}`
  return { number, id, ref: `fnref${sub === 0 ? '' : sub}:${id}` }
}
