import type { Context } from '../context.ts'
import type { StoredEvent } from '../events/catalogue.ts'
import { presentStatusPayload } from '../wire/hook-payload.ts'
import { showCommon } from './common.ts'
import type { News } from './news.ts'
import { readHookCommits } from './news-of-refs.ts'

export async function newsOfStatus(context: Context, event: StoredEvent<'status.created'>): Promise<News[]> {
  const common = await showCommon(context, event)
  if (!common) return []
  const { sha } = event.payload
  const commits = await readHookCommits(context, common.repository, [sha])
  const payload = presentStatusPayload(common, { ...event.payload, commit: commits.get(sha) ?? null })
  return [{ event: { type: 'status', payload }, subject: `status:${event.repositoryId}:${sha}` }]
}
