import highlighter from 'highlight.js/lib/common'

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

const hasLongLine = (code: string): boolean => code.split('\n').some(({ length }) => length > MAX_LINE)
