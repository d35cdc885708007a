import { Elysia, t } from 'elysia'
import type { NotificationRow } from '../../../db/schema/notifications.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { paging } from '../../http/paging.ts'
import { viewerOf } from '../../http/viewer.ts'
import { notFound } from '../../kernel/errors.ts'
import { NotificationCount, NotificationThread, presentThread } from '../../wire/notification.ts'
import type { ThreadFilter } from './filter.ts'
import { loadThreads } from './load.ts'
import { type ListQuery, listQuery, markOneQuery, markQuery } from './schema.ts'
import { getThread, listedThreads, markThread, markThreads } from './service.ts'
import { countThreads, listThreads } from './store.ts'

interface Target {
  request: Request
  set: { headers: Record<string, string | number | undefined> }
}

const Threads = t.Array(NotificationThread)

const own = { scope: 'notification', personal: true } as const
/** Marking changes nothing of the repository. */
const ownInRepo = { scope: 'notification', level: 'read', evenArchived: true } as const

/** The notifications of a person. Wire: marks are answered with 205, which here has a body (see http/server.ts). */
export const notificationRoutes = (context: Context) => {
  const present = async (actor: Actor, threads: readonly NotificationRow[]) => {
    const viewer = viewerOf(context, actor)
    return (await loadThreads(context, actor, threads)).map((shown) => presentThread(shown, viewer))
  }
  const presentOne = async (actor: Actor, thread: NotificationRow) => {
    const [shown] = await present(actor, [thread])
    if (!shown) throw notFound(`notification does not exist [id: ${thread.id}]`)
    return shown
  }
  const list = async (actor: Actor, asked: { scope: Scope; query: ListQuery }, target: Target) => {
    const { page, links } = paging(context, asked.query, target)
    const found = await listThreads(context, actor, listedThreads(asked.scope, asked.query), page)
    links(found.total, found.next)
    return present(actor, found.rows)
  }
  return new Elysia({ name: 'notifications', detail: { tags: ['notification'] } })
    .use(gate(context))
    .get(
      '/notifications',
      ({ actor, query, request, set }) => list(actor, { scope: { userId: actor.user.id }, query }, { request, set }),
      {
        login: own,
        query: listQuery,
        response: { 200: Threads },
        detail: {
          operationId: 'notifyGetList',
          summary: 'What you were told',
          'x-list': 'links',
          'x-refuses': [422],
        },
      },
    )
    .put(
      '/notifications',
      async ({ actor, query, set }) => {
        const marked = await markThreads(context, actor, { scope: { userId: actor.user.id }, query })
        set.status = 205
        return present(actor, marked)
      },
      {
        login: own,
        query: markQuery,
        response: { 205: Threads },
        detail: {
          operationId: 'notifyReadList',
          summary: 'Mark notifications as read, unread or pinned',
          'x-refuses': [400],
        },
      },
    )
    .get(
      '/notifications/new',
      async ({ actor }) => ({
        new: await countThreads(context, actor, { userId: actor.user.id, statuses: ['unread'] }),
      }),
      {
        login: own,
        response: { 200: NotificationCount },
        detail: { operationId: 'notifyNewAvailable', summary: 'How many notifications you have not read' },
      },
    )
    .get(
      '/notifications/threads/:id',
      async ({ actor, params }) => presentOne(actor, await getThread(context, actor, params.id)),
      {
        login: own,
        response: { 200: NotificationThread },
        detail: { operationId: 'notifyGetThread', summary: 'A notification', 'x-refuses': [403, 404] },
      },
    )
    .patch(
      '/notifications/threads/:id',
      async ({ actor, params, query, set }) => {
        const marked = await markThread(context, actor, { id: params.id, toStatus: query['to-status'] })
        set.status = 205
        return presentOne(actor, marked)
      },
      {
        login: own,
        query: markOneQuery,
        response: { 205: NotificationThread },
        detail: {
          operationId: 'notifyReadThread',
          summary: 'Mark a notification as read, unread or pinned',
          'x-refuses': [403, 404],
        },
      },
    )
    .get(
      '/repos/:owner/:repo/notifications',
      ({ actor, repo, query, request, set }) => list(actor, { scope: scopeOf(actor, repo), query }, { request, set }),
      {
        changeRepo: ownInRepo,
        query: listQuery,
        response: { 200: Threads },
        detail: {
          operationId: 'notifyGetRepoList',
          summary: 'What you were told of a repository',
          'x-list': 'links',
          'x-refuses': [422],
        },
      },
    )
    .put(
      '/repos/:owner/:repo/notifications',
      async ({ actor, repo, query, set }) => {
        const marked = await markThreads(context, actor, { scope: scopeOf(actor, repo), query })
        set.status = 205
        return present(actor, marked)
      },
      {
        changeRepo: ownInRepo,
        query: markQuery,
        response: { 205: Threads },
        detail: {
          operationId: 'notifyReadRepoList',
          summary: "Mark a repository's notifications as read, unread or pinned",
          'x-refuses': [400],
        },
      },
    )
}

type Scope = Pick<ThreadFilter, 'userId' | 'repositoryId'>

const scopeOf = (actor: Actor, repo: { repository: { id: number } }): Scope => ({
  userId: actor.user.id,
  repositoryId: repo.repository.id,
})
