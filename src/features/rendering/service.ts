import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { Refusal } from '../../kernel/errors.ts'
import { type Mode, parseContext, parseMode } from '../../render/context.ts'
import { markupOf } from '../../render/markup/by-extension.ts'
import { databaseReferences } from './references.ts'
import type { MarkupOption } from './schema.ts'

/**
 * Text as safe HTML, for what this reader may see.
 * @throws Refusal 422 as bare text for an unknown mode, and for a file that has no renderer
 */
export async function renderText(context: Context, actor: Actor | undefined, option: MarkupOption): Promise<string> {
  const mode = parseMode(option.Mode ?? '')
  if (mode === undefined) throw new Refusal(422, `unsupported render mode: ${option.Mode}`, { isText: true })
  const markup = markupFor(mode, option.FilePath ?? '')
  const source = option.Text ?? ''
  if (source === '') return ''
  const place = parseContext({
    baseUrl: context.baseUrl,
    mode,
    context: option.Context ?? '',
    isWiki: option.Wiki ?? false,
  })
  return await context.renderer.render({ source, markup, context: place }, databaseReferences(context, actor))
}

/** Wire: only mode `file` looks at the path; all others are markdown. */
function markupFor(mode: Mode, path: string) {
  if (mode !== 'file') return 'markdown'
  const markup = markupOf(path)
  if (markup === undefined) throw new Refusal(422, 'unable to find a render', { isText: true })
  return markup
}
