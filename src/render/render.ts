import type { RenderContext } from './context.ts'
import { linksOf } from './html/links.ts'
import { sanitize } from './html/sanitize.ts'
import { linkText } from './html/text.ts'
import type { MarkdownOptions } from './markdown/markdown.ts'
import type { Markup } from './markup/by-extension.ts'
import type { KnownReferences } from './references.ts'

export interface RenderTask {
  source: string
  markup: Markup
  context: RenderContext
  known: KnownReferences
  /** Whether code is coloured, the only step that may take far more than linear time. */
  isColoured: boolean
}

/** Turns a text into HTML that is not yet safe. */
export type Write = (source: string, markup: Markup, options: MarkdownOptions) => string | Promise<string>

/** A text as safe HTML, in the thread of the caller. A text can make this take very long; `renderer.ts` sets the limit. */
export async function renderWith(write: Write, task: RenderTask): Promise<string> {
  const { source, markup, context, known, isColoured } = task
  const isPlain = context.mode === 'markdown'
  const html = await write(source, markup, { mode: context.mode, isColoured: isColoured && !isPlain })
  if (isPlain) return sanitize(html, { isPlain: true })
  const links = linksOf(context)
  return sanitize(html, {
    text: linkText(context, known),
    link: links.link,
    image: links.image,
  })
}
