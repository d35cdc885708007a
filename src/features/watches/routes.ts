import { Elysia, t } from 'elysia'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { paging } from '../../http/paging.ts'
import { cursorQuery } from '../../http/query.ts'
import { viewerOf } from '../../http/viewer.ts'
import { unauthorized } from '../../kernel/errors.ts'
import { Repository } from '../../wire/repository.ts'
import { presentUser, User } from '../../wire/user.ts'
import { presentWatchInfo, WatchInfo } from '../../wire/watch-info.ts'
import { listRepositories } from '../repository-search/list.ts'
import { presentPage } from '../repository-search/present.ts'
import { getWatch, listWatchers, unwatch, type WatchRow, watch } from './service.ts'

const query = t.Object(cursorQuery)
const Repositories = t.Array(Repository)

const presentWatch = (row: WatchRow, { apiUrl }: RepositoryAccess): WatchInfo =>
  presentWatchInfo({ ...row, url: `${apiUrl}/subscription`, repositoryUrl: apiUrl })

/** What somebody watches, by name. */
const watchedBy = (id: number) => ({ filter: { watchedById: id }, order: { by: 'name' } as const })

export const watchRoutes = (context: Context) =>
  new Elysia({ name: 'watches', detail: { tags: ['repository'] } })
    .use(gate(context))
    .get(
      '/repos/:owner/:repo/subscription',
      async ({ actor, repo }) => {
        if (!actor) throw unauthorized()
        return presentWatch(await getWatch(context.db, actor.user.id, repo.repository.id), repo)
      },
      {
        readRepo: { scope: 'repository', login: true },
        response: { 200: WatchInfo },
        detail: { operationId: 'userCurrentCheckSubscription', summary: 'Whether you watch a repository' },
      },
    )
    .put(
      '/repos/:owner/:repo/subscription',
      async ({ actor, repo }) => {
        if (!actor) throw unauthorized()
        return presentWatch(await watch(context, actor, repo.repository), repo)
      },
      {
        readRepo: { scope: 'repository', login: true },
        response: { 200: WatchInfo },
        detail: { operationId: 'userCurrentPutSubscription', summary: 'Watch a repository' },
      },
    )
    .delete(
      '/repos/:owner/:repo/subscription',
      async ({ actor, repo, set }) => {
        if (!actor) throw unauthorized()
        await unwatch(context.db, actor.user.id, repo.repository.id)
        set.status = 204
      },
      {
        readRepo: { scope: 'repository', login: true },
        response: { 204: t.Void() },
        detail: { operationId: 'userCurrentDeleteSubscription', summary: 'Stop watching a repository' },
      },
    )
    .get(
      '/repos/:owner/:repo/subscribers',
      async ({ actor, repo, query, request, set }) => {
        const { page, total } = paging(context, query, { request, set })
        const found = await listWatchers(context, actor, repo.repository.id, page)
        total(found.total, found.next)
        const viewer = viewerOf(context, actor)
        return found.rows.map((row) => presentUser(row, viewer))
      },
      {
        readRepo: { scope: 'repository' },
        query,
        response: { 200: t.Array(User) },
        detail: { operationId: 'repoListSubscribers', summary: 'Who watches a repository', 'x-list': 'total' },
      },
    )
    .get(
      '/user/subscriptions',
      async ({ actor, query, request, set }) => {
        const { page, total } = paging(context, query, { request, set })
        const found = await listRepositories(context, actor, { ...watchedBy(actor.user.id), page })
        total(found.total, found.next)
        return presentPage(context, actor, found)
      },
      {
        login: { scope: 'user' },
        query,
        response: { 200: Repositories },
        detail: {
          operationId: 'userCurrentListSubscriptions',
          summary: 'What you watch',
          tags: ['user'],
          'x-list': 'total',
        },
      },
    )
    .get(
      '/users/:username/subscriptions',
      async ({ actor, account, query, request, set }) => {
        const { page, total } = paging(context, query, { request, set })
        const found = await listRepositories(context, actor, { ...watchedBy(account.row.id), page })
        total(found.total, found.next)
        return presentPage(context, actor, found)
      },
      {
        readUser: { scope: 'user', login: true },
        query,
        response: { 200: Repositories },
        detail: {
          operationId: 'userListSubscriptions',
          summary: 'What a user watches',
          tags: ['user'],
          'x-list': 'total',
        },
      },
    )
