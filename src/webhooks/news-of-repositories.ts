import type { Context } from '../context.ts'
import type { StoredEvent } from '../events/catalogue.ts'
import { presentForkPayload, presentRepositoryPayload } from '../wire/hook-payload.ts'
import { showCommon, showRepository } from './common.ts'
import type { News } from './news.ts'

export async function newsOfRepository(
  context: Context,
  event: StoredEvent<'repository.created' | 'repository.deleted'>,
  action: 'created' | 'deleted',
): Promise<News[]> {
  const subject = `repository:${event.payload.repositoryId}`
  const common = await showCommon(context, event)
  return common ? [{ event: { type: 'repository', payload: presentRepositoryPayload(common, action) }, subject }] : []
}

/** The hooks of the original are notified of the fork, then those of the fork's owner of a new repository. */
export async function newsOfFork(context: Context, event: StoredEvent<'repository.forked'>): Promise<News[]> {
  const { repositoryId, forkedFromId } = event.payload
  const [common, forkee] = await Promise.all([showCommon(context, event), showRepository(context, forkedFromId)])
  if (!common) return []
  const made: News = {
    event: { type: 'repository', payload: presentRepositoryPayload(common, 'created') },
    subject: `repository:${repositoryId}`,
  }
  if (!forkee) return [made]
  const fork: News = {
    event: { type: 'fork', payload: presentForkPayload(common, forkee) },
    subject: `repository:${forkedFromId}`,
    listenersOf: forkedFromId,
  }
  return [fork, made]
}
