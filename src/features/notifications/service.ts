import type { NotificationRow } from '../../../db/schema/notifications.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { forbidden, notFound } from '../../kernel/errors.ts'
import { parseId } from '../../kernel/ids.ts'
import { readKinds, readStatus, readStatuses, type ThreadFilter } from './filter.ts'
import type { ListQuery, MarkQuery } from './schema.ts'
import { findThread, setStatus, setStatuses } from './store.ts'

/** Whose threads, and of which repository. */
type Scope = Pick<ThreadFilter, 'userId' | 'repositoryId'>

/** Which threads a list was asked for. */
export const listedThreads = (scope: Scope, query: ListQuery): ThreadFilter => ({
  ...scope,
  statuses: query.all ? undefined : readStatuses(query['status-types'], ['unread', 'pinned']),
  kinds: readKinds(query['subject-type']),
  since: query.since,
  before: query.before,
})

/** Wire: the marked threads are shown, which may be all there ever were; more than this need not be seen. */
const MAX_SHOWN = 1000

/** Marks what matches; what came after `last_read_at` stays as it is. The newest of the marked threads are returned. */
export const markThreads = (
  context: Context,
  actor: Actor,
  { scope, query }: { scope: Scope; query: MarkQuery },
): Promise<NotificationRow[]> =>
  setStatuses(context, actor, {
    filter: {
      ...scope,
      statuses: query.all ? undefined : readStatuses(query['status-types'], ['unread']),
      before: query.last_read_at,
    },
    status: readStatus(query['to-status']),
    limit: MAX_SHOWN,
  })

/**
 * Who may see what a thread is about gets the answer that it is somebody else's; for all others it is as if there were none.
 * @throws Refusal 403, 404
 */
export async function getThread(context: Context, actor: Actor, text: string): Promise<NotificationRow> {
  const id = parseId(text)
  if (id === undefined) throw notFound('notification does not exist')
  const thread = await findThread(context, actor, id)
  if (!thread) throw notFound(`notification does not exist [id: ${id}]`)
  if (thread.userId !== actor.user.id && !actor.user.isAdmin)
    throw forbidden(`only user itself and admin are allowed to read/change this thread ${id}`)
  return thread
}

/** @throws Refusal as `getThread` */
export async function markThread(
  context: Context,
  actor: Actor,
  { id, toStatus }: { id: string; toStatus: string | undefined },
): Promise<NotificationRow> {
  const thread = await getThread(context, actor, id)
  const marked = await setStatus(context.db, thread.id, readStatus(toStatus))
  if (!marked) throw notFound(`notification does not exist [id: ${id}]`)
  return marked
}
