import { type Mode, parseContext } from '../../src/render/context.ts'
import type { Markup } from '../../src/render/markup/by-extension.ts'
import { renderMarkup } from '../../src/render/markup/by-extension.ts'
import { issueKey, type KnownReferences } from '../../src/render/references.ts'
import { renderWith } from '../../src/render/render.ts'

export const BASE = 'http://localhost:3000'

/** What the texts of the tests may refer to. */
export const KNOWN: KnownReferences = {
  users: new Map([['alice', 'alice']]),
  issues: new Map([
    [issueKey('alice', 'r', 1), { isPull: false }],
    [issueKey('alice', 'r', 2), { isPull: true }],
  ]),
  commits: new Map([['alice/r@65f1bf27bc3bf70f64657658635e66094edbcb4d', '65f1bf27bc3bf70f64657658635e66094edbcb4d']]),
}

export interface RenderOptions {
  mode?: Mode
  context?: string
  isWiki?: boolean
  markup?: Markup
}

export function render(source: string, options: RenderOptions = {}): Promise<string> {
  const { mode = 'markdown', context = '', isWiki = false, markup = 'markdown' } = options
  return renderWith(renderMarkup, {
    source,
    markup,
    context: parseContext({ baseUrl: BASE, mode, context, isWiki }),
    known: KNOWN,
    isColoured: true,
  })
}

/** Takes out what Gitea adds to the published examples: directions, a frame around code; and blanks inside of empty quotes. */
export function comparable(html: string): string {
  return html
    .replaceAll(' dir="auto"', '')
    .replace(/<div class="code-block">(<pre>[\s\S]*?<\/pre>)<\/div>/g, '$1')
    .replace(/<blockquote>\s*<\/blockquote>/g, '<blockquote></blockquote>')
    .replaceAll(' />', '>')
    .replaceAll('&#34;', '&quot;')
    .replaceAll('&#39;', "'")
    .trim()
}
