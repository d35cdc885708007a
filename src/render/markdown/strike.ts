import type { Delimiter, MarkdownIt, StateInline } from 'markdown-it'

const TILDE = 0x7e

/**
 * GFM 6.5: one or two tildes strike text out, three or more are text. The parser's own rule knows pairs only and takes them
 * out of longer runs.
 */
export function strike(parser: MarkdownIt): void {
  parser.inline.ruler.at('strikethrough', tokenize)
  parser.inline.ruler2.at('strikethrough', (state) => {
    pair(state, state.delimiters)
    for (const meta of state.tokens_meta) if (meta?.delimiters) pair(state, meta.delimiters)
    return true
  })
  parser.renderer.rules.s_open = () => '<del>'
  parser.renderer.rules.s_close = () => '</del>'
}

function tokenize(state: StateInline, isSilent: boolean): boolean {
  if (isSilent || state.src.charCodeAt(state.pos) !== TILDE) return false
  const { length, can_open: open, can_close: close } = state.scanDelims(state.pos, true)
  const token = state.push('text', '', 0)
  token.content = '~'.repeat(length)
  // The number of tildes is part of the marker, so that one does not end what two began.
  if (length <= 2)
    state.delimiters.push({
      marker: TILDE + 256 * length,
      length: 0,
      token: state.tokens.length - 1,
      end: -1,
      open,
      close,
    })
  state.pos += length
  return true
}

function pair(state: StateInline, delimiters: Delimiter[]): void {
  for (const { marker, token: start, end } of delimiters) {
    const last = delimiters[end]
    if (marker % 256 !== TILDE || last === undefined) continue
    for (const [at, type, nesting] of [
      [start, 's_open', 1],
      [last.token, 's_close', -1],
    ] as const) {
      const token = state.tokens[at]
      if (token === undefined) continue
      token.type = type
      token.tag = 's'
      token.nesting = nesting
      token.content = ''
    }
  }
}
