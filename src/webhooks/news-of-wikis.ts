import type { Context } from '../context.ts'
import type { StoredEvent } from '../events/catalogue.ts'
import { presentWikiPayload } from '../wire/hook-payload.ts'
import { showCommon } from './common.ts'
import type { News } from './news.ts'

/** Wire: the page is named by its title, without the address. */
export async function newsOfWiki(
  context: Context,
  event: StoredEvent<'wiki.page_created' | 'wiki.page_edited' | 'wiki.page_deleted'>,
  action: 'created' | 'edited' | 'deleted',
): Promise<News[]> {
  const common = await showCommon(context, event)
  if (!common) return []
  const { title: page, comment } = event.payload
  const payload = presentWikiPayload(common, { action, page, comment })
  return [{ event: { type: 'wiki', payload }, subject: `wiki:${event.repositoryId}` }]
}
