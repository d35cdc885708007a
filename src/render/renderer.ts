import { sha256Hex } from '../kernel/hashing.ts'
import type { RenderContext } from './context.ts'
import { type Markup, renderText } from './markup/by-extension.ts'
import { type KnownReferences, NO_REFERENCES, type References } from './references.ts'
import { createThreads, RenderQueueFull, RenderTimeout } from './threads.ts'
import { wantedReferences } from './wanted.ts'

export interface RenderRequest {
  source: string
  markup: Markup
  context: RenderContext
}

export interface Renderer {
  /** Safe HTML for a reader whose look-ups are `references`. A text that is too much work comes back as preformatted text. */
  render(request: RenderRequest, references?: References): Promise<string>
  /** Code as HTML with colours; undefined when the language is unknown or the code too much work. */
  highlight(code: string, language: string): Promise<string | undefined>
  stop(): void
}

/**
 * Longer texts are shown as they are. In UTF-16 units. The worst markdown of this length takes 0.7 s and grows the process by
 * 150 MB for a moment; the libraries for the others take more than linear time, and the deadline is for them.
 */
const MAX_SOURCE: Readonly<Record<Markup, number>> = {
  markdown: 256 * 1024,
  asciidoc: 48 * 1024,
  org: 32 * 1024,
  rst: 48 * 1024,
  csv: 512 * 1024,
  tsv: 512 * 1024,
  text: 512 * 1024,
}
/** Twice this, with and without colours, stays below the two seconds that the worst text may take. */
const DEADLINE_MS = 800
/** Longer a text is not kept waiting for a thread: while others are rendered, or while the first one starts. */
const MAX_WAIT_MS = 5000
/** Characters of HTML that are kept. */
const CACHE_CHARACTERS = 16 * 1024 * 1024

/**
 * Renders in threads of its own, so that no text can block the server, and keeps results. The key holds all that a result
 * depends on: the text, where it stands, and what the reader may see of what it names.
 */
export function createRenderer(log: { warn(fields: object, message: string): void }): Renderer {
  const limits = { deadlineMs: DEADLINE_MS, maxWaiting: 200, maxWaitMs: MAX_WAIT_MS }
  const markdown = createThreads({ program: 'markdown-worker.ts', threads: 2, ...limits })
  // The libraries for other forms can be made to work long: they get a thread that nothing else waits for.
  const others = createThreads({ program: 'markup-worker.ts', threads: 1, ...limits })
  const cache = createCache()

  /** Undefined when there was no thread for it: another time there may be. */
  const attempt = async (
    request: RenderRequest,
    known: KnownReferences,
    isColoured: boolean,
  ): Promise<string | undefined> => {
    try {
      const threads = request.markup === 'markdown' ? markdown : others
      return await threads.run({ kind: 'text', ...request, known, isColoured })
    } catch (error) {
      if (error instanceof RenderQueueFull) return undefined
      // Colours are what usually takes too long, so there is a second try without them.
      if (error instanceof RenderTimeout && isColoured) return await attempt(request, known, false)
      if (!(error instanceof RenderTimeout))
        log.warn({ err: error, markup: request.markup }, 'a text could not be rendered')
      return renderText(request.source)
    }
  }
  return {
    async render(request, references) {
      const { source, markup, context } = request
      if (source.length > MAX_SOURCE[markup]) return renderText(source)
      const wanted = wantedReferences(source, context)
      const isWanted = wanted.users.length + wanted.issues.length + wanted.commits.length > 0
      const known = references && isWanted ? await references.lookUp(wanted) : NO_REFERENCES
      const key = keyOf(request, known)
      const kept = cache.get(key)
      if (kept !== undefined) return kept
      const html = await attempt(request, known, /```|~~~|#\+begin_src|\.\. (?:source)?code/i.test(source))
      if (html !== undefined) cache.set(key, html)
      return html ?? renderText(source)
    },
    async highlight(code, language) {
      const key = sha256Hex(`${language}\0${code}`)
      const kept = cache.get(key)
      if (kept !== undefined) return kept
      const html = await markdown.run({ kind: 'code', code, language }).catch(() => undefined)
      if (html !== undefined) cache.set(key, html)
      return html
    },
    stop() {
      markdown.stop()
      others.stop()
    },
  }
}

function keyOf({ source, markup, context }: RenderRequest, { users, issues, commits }: KnownReferences): string {
  const facts = [markup, context, [...users], [...issues], [...commits]]
  return sha256Hex(`${JSON.stringify(facts)}\0${source}`)
}

/** Least recently used entries leave first. */
function createCache() {
  const entries = new Map<string, string>()
  let characters = 0
  return {
    get(key: string): string | undefined {
      const html = entries.get(key)
      if (html === undefined) return undefined
      entries.delete(key)
      entries.set(key, html)
      return html
    },
    set(key: string, html: string): void {
      if (html.length > CACHE_CHARACTERS / 8 || entries.has(key)) return
      entries.set(key, html)
      characters += html.length
      for (const [oldKey, old] of entries) {
        if (characters <= CACHE_CHARACTERS) return
        entries.delete(oldKey)
        characters -= old.length
      }
    },
  }
}
