// Packages without types of their own.
declare module 'markdown-it-footnote' {
  import type { MarkdownIt } from 'markdown-it'

  const plugin: (parser: MarkdownIt) => void
  export default plugin
}

declare module 'markdown-it-emoji/lib/data/full.mjs' {
  const names: Readonly<Record<string, string>>
  export default names
}

declare module 'papaparse' {
  interface ParseResult {
    data: string[][]
  }
  interface ParseConfig {
    delimiter?: string
    delimitersToGuess?: string[]
    preview?: number
    skipEmptyLines?: boolean
  }
  export function parse(text: string, config: ParseConfig): ParseResult
}
