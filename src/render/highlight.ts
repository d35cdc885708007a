import highlighter from 'highlight.js/lib/common'
import { escapeHtml } from './html/escape.ts'

/** Longer code is shown without colours. */
const MAX_CHARACTERS = 64 * 1024
/**
 * Rules of some languages take time with the square of a line's length, and a search that has begun cannot be interrupted:
 * 60 KB of `a` in one line took 16 s in C++'s. With lines of this length no single search took over 0.4 s; whole texts
 * made for the purpose still take 25 s (`a b ` in C#'s), which the renderer's deadline ends.
 */
const MAX_LINE = 1000

/** HTML with spans of `hljs-` classes; undefined for an unknown language and for code that is too long. */
export function highlight(code: string, language: string): string | undefined {
  if (code.length > MAX_CHARACTERS || highlighter.getLanguage(language) === undefined || hasLongLine(code))
    return undefined
  return highlighter.highlight(code, { language, ignoreIllegals: true }).value
}

function hasLongLine(code: string): boolean {
  for (let from = 0; from <= code.length; ) {
    const end = code.indexOf('\n', from)
    if ((end < 0 ? code.length : end) - from > MAX_LINE) return true
    if (end < 0) return false
    from = end + 1
  }
  return false
}

/**
 * Writes HTML as the highlighter finds it. The library's own emitter builds a tree and walks it, and escapes each word with
 * five replacements: a sixth of the time and much of the memory.
 */
class HtmlEmitter {
  private html = ''
  private depth = 0

  addText(text: string): void {
    this.html += escapeHtml(text)
  }

  startScope(scope: string): void {
    this.html += startTag(scope)
    this.depth++
  }

  endScope(): void {
    if (this.depth === 0) return
    this.html += '</span>'
    this.depth--
  }

  /** The two names of the library for the same thing, of which it uses both. */
  openNode(scope: string): void {
    this.startScope(scope)
  }

  closeNode(): void {
    this.endScope()
  }

  __addSublanguage(emitter: HtmlEmitter, language: string | undefined): void {
    this.html += language ? `<span class="language-${language}">${emitter.html}</span>` : emitter.html
  }

  finalize(): void {
    while (this.depth > 0) this.endScope()
  }

  toHTML(): string {
    return this.html
  }
}

const startTags = new Map<string, string>()

/** A scope such as `title.function` has a class for each part, marked with its depth: `hljs-title function_`. */
function startTag(scope: string): string {
  const made = startTags.get(scope)
  if (made !== undefined) return made
  const [first, ...others] = scope.split('.')
  const classes = [`hljs-${first}`, ...others.map((part, at) => part + '_'.repeat(at + 1))]
  const tag = `<span class="${classes.join(' ')}">`
  startTags.set(scope, tag)
  return tag
}

highlighter.configure({ __emitter: HtmlEmitter })
