import { LRUCache } from 'lru-cache'
import { sha256Hex } from '../kernel/hashing.ts'
import { createThreadPool, ThreadsBusy, ThreadTimeout } from '../threads/pool.ts'
import { locateProgram } from '../threads/programs.ts'
import type { RenderContext } from './context.ts'
import { type Markup, renderText } from './markup/by-extension.ts'
import { type KnownReferences, NO_REFERENCES, type References } from './references.ts'
import type { RenderTask } from './render.ts'
import { wantedReferences } from './wanted.ts'

export interface RenderRequest {
  source: string
  markup: Markup
  context: RenderContext
}

export interface Renderer {
  /** Safe HTML for a reader whose look-ups are `references`. A text that is too much work comes back as preformatted text. */
  render(request: RenderRequest, references?: References): Promise<string>
  stop(): void
}

/**
 * Longer texts are shown as they are. In UTF-16 units. The libraries for other forms than markdown take more than linear time; the
 * deadline is for them.
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

const LIMITS = {
  /** Twice this, with and without colours, stays below the two seconds that the worst text may take. */
  deadlineMs: 800,
  maxWaiting: 200,
  /** While other texts are rendered, or while the first thread starts. */
  maxWaitMs: 5000,
}

/** Characters of HTML in the cache, and of one result. */
const MAX_CACHED = 16 * 1024 * 1024
const MAX_CACHED_RESULT = MAX_CACHED / 8

/** Marks of code in the forms of text that have it. */
const CODE = /```|~~~|#\+begin_src|\.\. (?:source)?code/i

/** Renders in threads, so that no text can block the server, and caches results. */
export function createRenderer(log: { warn(fields: object, message: string): void }): Renderer {
  const markdown = createThreadPool<RenderTask, string>({
    program: locateProgram('render/markdown-worker.ts'),
    threads: 2,
    ...LIMITS,
  })
  // The libraries for other forms can be made to work long: they get a thread that nothing else waits for.
  const others = createThreadPool<RenderTask, string>({
    program: locateProgram('render/markup-worker.ts'),
    threads: 1,
    ...LIMITS,
  })
  const cache = new LRUCache<string, string>({
    maxSize: MAX_CACHED,
    maxEntrySize: MAX_CACHED_RESULT,
    sizeCalculation: ({ length }) => length + 1,
  })

  /** Undefined when there was no thread for it: another time there may be. */
  const attempt = async (task: RenderTask): Promise<string | undefined> => {
    try {
      return await (task.markup === 'markdown' ? markdown : others).run(task)
    } catch (error) {
      if (error instanceof ThreadsBusy) return undefined
      // Colours are what usually takes too long, so there is a second try without them.
      if (error instanceof ThreadTimeout && task.isColoured) return await attempt({ ...task, isColoured: false })
      if (!(error instanceof ThreadTimeout))
        log.warn({ err: error, markup: task.markup }, 'a text could not be rendered')
      return renderText(task.source)
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
      const cached = cache.get(key)
      if (cached !== undefined) return cached
      const html = await attempt({ ...request, known, isColoured: CODE.test(source) })
      if (html !== undefined) cache.set(key, html)
      return html ?? renderText(source)
    },
    stop() {
      markdown.stop()
      others.stop()
    },
  }
}

/** All that a result depends on: the text, where it stands, and what the reader may see of what it names. */
function keyOf({ source, markup, context }: RenderRequest, { users, issues, commits }: KnownReferences): string {
  const facts = [markup, context, [...users], [...issues], [...commits]]
  return sha256Hex(`${JSON.stringify(facts)}\0${source}`)
}
