import type { MarkdownIt, StateBlock, StateInline } from 'markdown-it'
import { escapeHtml } from '../../kernel/html.ts'

/** The longest formula within a line; what is longer is text with dollar signs. */
const MAX_INLINE = 2000

/** Marks `$a$`, `$$a$$` and blocks between lines of `$$` for a page to typeset; without one they read as code. */
export function math(parser: MarkdownIt): void {
  parser.inline.ruler.before('escape', 'math', inlineRule)
  parser.block.ruler.before('fence', 'math', blockRule, { alt: ['paragraph', 'reference', 'blockquote', 'list'] })
  parser.renderer.rules.math = (tokens, index) => {
    const token = tokens[index]
    const classes = token?.markup === '$$' ? 'language-math display' : 'language-math'
    return `<code class="${classes}">${escapeHtml(token?.content ?? '')}</code>`
  }
  parser.renderer.rules.math_block = (tokens, index) =>
    `<pre class="code-block"><code class="language-math display">${escapeHtml(tokens[index]?.content ?? '')}</code></pre>\n`
}

function inlineRule(state: StateInline, isSilent: boolean): boolean {
  const { src, pos } = state
  if (src.charCodeAt(pos) !== 0x24) return false
  const markup = src.startsWith('$$', pos) ? '$$' : '$'
  const start = pos + markup.length
  const limit = Math.min(state.posMax, start + MAX_INLINE)
  const end = src.slice(start, limit).indexOf(markup) + start
  if (end <= start || !isFormula(src, { pos, start, end, markup })) return false
  if (!isSilent) {
    const token = state.push('math', 'code', 0)
    token.markup = markup
    token.content = src.slice(start, end).trim()
  }
  state.pos = end + markup.length
  return true
}

/** "between $5 and $6" is about money: no space inside the signs, no letter or digit right outside of them. */
function isFormula(
  src: string,
  { pos, start, end, markup }: { pos: number; start: number; end: number; markup: string },
) {
  if (/[\w$\\]/.test(src[pos - 1] ?? '') || /[\w$]/.test(src[end + markup.length] ?? '')) return false
  const inner = src.slice(start, end)
  if (inner.trim() === '' || inner.includes('`')) return false
  return markup === '$$' || (/^\S/.test(inner) && /\S$/.test(inner))
}

/** By document and closing mark: the line up to which there is none. */
const unclosed = new WeakMap<object, Map<string, number>>()

function blockRule(state: StateBlock, startLine: number, endLine: number, isSilent: boolean): boolean {
  // Every line that may begin a block comes by here.
  const first = state.src.charCodeAt((state.bMarks[startLine] ?? 0) + (state.tShift[startLine] ?? 0))
  if (first !== 0x24 && first !== 0x5c) return false
  const line = (at: number) => state.src.slice((state.bMarks[at] ?? 0) + (state.tShift[at] ?? 0), state.eMarks[at] ?? 0)
  const [open, close] = line(startLine).trim() === '$$' ? ['$$', '$$'] : ['\\[', '\\]']
  if (line(startLine).trim() !== open || (state.sCount[startLine] ?? 0) - state.blkIndent >= 4) return false
  // Without this, lines that only open would each search to the end of the text.
  const searched = unclosed.get(state.env) ?? new Map<string, number>()
  unclosed.set(state.env, searched)
  if (searched.get(close) === endLine) return false
  let end = startLine + 1
  while (end < endLine && line(end).trim() !== close) {
    if ((state.sCount[end] ?? 0) < state.blkIndent && !state.isEmpty(end)) return false
    end++
  }
  if (end >= endLine) {
    searched.set(close, endLine)
    return false
  }
  if (isSilent) return true
  const token = state.push('math_block', 'code', 0)
  token.content = `\n${state.getLines(startLine + 1, end, state.tShift[startLine] ?? 0, true)}`
  token.map = [startLine, end + 1]
  state.line = end + 1
  return true
}
