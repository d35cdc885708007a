import type { MarkdownIt, StateCore, Token } from 'markdown-it'

const MARK = /^\[([ xX])\][ \t]+(?=\S)/

/**
 * List items that start with `[ ]` or `[x]` become check boxes. Wire: each says where in the source its mark stands, so that
 * a page can change the source when it is ticked; the offset is in bytes of UTF-8.
 */
export function tasks(parser: MarkdownIt): void {
  parser.core.ruler.before('inline', 'tasks', (state) => {
    const { tokens } = state
    let offsets: number[] | undefined
    for (let index = 0; index + 2 < tokens.length; index++) {
      if (tokens[index]?.type !== 'list_item_open' || tokens[index + 1]?.type !== 'paragraph_open') continue
      const inline = tokens[index + 2]
      if (inline?.type !== 'inline') continue
      const mark = MARK.exec(inline.content)
      if (mark === null) continue
      offsets ??= bracketOffsets(state.env)
      inline.meta = { ...inline.meta, task: { isDone: mark[1] !== ' ', at: offsets[inline.map?.[0] ?? 0] ?? 0 } }
      inline.content = inline.content.slice(mark[0].length)
    }
  })
  parser.core.ruler.after('inline', 'task-boxes', (state) => {
    for (const token of state.tokens) if (token.type === 'inline' && token.meta?.task) addBox(state, token)
  })
}

function addBox(state: StateCore, inline: Token): void {
  const task: unknown = inline.meta?.task
  if (typeof task !== 'object' || task === null || !('isDone' in task) || !('at' in task)) return
  const box = new state.Token('html_inline', '', 0)
  box.content = `<input type="checkbox" disabled="" data-source-position="${task.at}"${task.isDone ? ' checked=""' : ''}>`
  inline.children = [box, ...(inline.children ?? [])]
}

/** Offset in bytes of the first bracket of each line of the parsed text, in the source as it came (see markdown.ts). */
function bracketOffsets({ source, skippedLines }: StateCore['env']): number[] {
  if (typeof source !== 'string' || typeof skippedLines !== 'number') return []
  const offsets: number[] = []
  let at = 0
  for (const [line] of source.matchAll(/[^\r\n]*(?:\r\n?|\n|$)/g)) {
    offsets.push(at + Buffer.byteLength(line.slice(0, Math.max(line.indexOf('['), 0))))
    at += Buffer.byteLength(line)
  }
  return offsets.slice(skippedLines)
}
