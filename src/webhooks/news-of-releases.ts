import { eq } from 'drizzle-orm'
import { users } from '../../db/schema/users.ts'
import type { Context } from '../context.ts'
import type { StoredEvent } from '../events/catalogue.ts'
import { presentReleasePayload } from '../wire/hook-payload.ts'
import { presentRelease } from '../wire/release.ts'
import { hookViewer, showCommon, withTime } from './common.ts'
import type { News } from './news.ts'

/** There are no events of drafts. */
export async function newsOfRelease(
  context: Context,
  event: StoredEvent<'release.published' | 'release.updated' | 'release.deleted'>,
  action: 'published' | 'updated' | 'deleted',
): Promise<News[]> {
  const { releaseId: id, authorId, createdAt, publishedAt, assets = [], ...facts } = event.payload
  const common = await showCommon(context, event)
  if (!common) return []
  const [author] = authorId === null ? [] : await context.db.select().from(users).where(eq(users.id, authorId))
  const times = { createdAt: new Date(createdAt), publishedAt: new Date(publishedAt) }
  const place = { apiUrl: common.repository.url, htmlUrl: common.repository.html_url }
  const shown = { release: { id, ...facts, ...times, isDraft: false }, author, assets: assets.map(withTime) }
  const release = presentRelease(shown, place, hookViewer(context))
  return [
    {
      event: { type: 'release', payload: presentReleasePayload(common, { action, release }) },
      subject: `release:${id}`,
    },
  ]
}
