import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { paging } from '../../http/paging.ts'
import { cursorQuery } from '../../http/query.ts'
import { viewerOf } from '../../http/viewer.ts'
import { notFound, unauthorized } from '../../kernel/errors.ts'
import { Repository } from '../../wire/repository.ts'
import { presentUser, User } from '../../wire/user.ts'
import { listRepositories } from '../repository-search/list.ts'
import { presentPage } from '../repository-search/present.ts'
import { isStarred, listStargazers, star, unstar } from './service.ts'

const scope = ['user', 'repository'] as const
const query = t.Object(cursorQuery)
const Repositories = t.Array(Repository)

/** What somebody has starred, newest star first. */
const starredBy = (id: number) => ({ filter: { starredById: id }, order: { by: 'id', starredById: id } as const })

export const starRoutes = (context: Context) =>
  new Elysia({ name: 'stars', detail: { tags: ['user'] } })
    .use(gate(context))
    .get(
      '/user/starred',
      async ({ actor, query, request, set }) => {
        const { page, total } = paging(context, query, { request, set })
        const found = await listRepositories(context, actor, { ...starredBy(actor.user.id), page })
        total(found.total, found.next)
        return presentPage(context, actor, found)
      },
      {
        login: { scope },
        query,
        response: { 200: Repositories },
        detail: { operationId: 'userCurrentListStarred', summary: 'What you have starred', 'x-list': 'total' },
      },
    )
    .get(
      '/users/:username/starred',
      async ({ actor, account, query, request, set }) => {
        const { page, total } = paging(context, query, { request, set })
        const found = await listRepositories(context, actor, { ...starredBy(account.row.id), page })
        total(found.total, found.next)
        return presentPage(context, actor, found)
      },
      {
        readUser: { scope: 'user', login: true },
        query,
        response: { 200: Repositories },
        detail: { operationId: 'userListStarred', summary: 'What a user has starred', 'x-list': 'total' },
      },
    )
    .get(
      '/user/starred/:owner/:repo',
      async ({ actor, repo, set }) => {
        if (!actor || !(await isStarred(context.db, actor.user.id, repo.repository.id))) throw notFound()
        set.status = 204
      },
      {
        readRepo: { scope, login: true },
        response: { 204: t.Void() },
        detail: { operationId: 'userCurrentCheckStarring', summary: 'Whether you have starred a repository' },
      },
    )
    .put(
      '/user/starred/:owner/:repo',
      async ({ actor, repo, set }) => {
        if (!actor) throw unauthorized()
        await star(context, actor, repo.repository)
        set.status = 204
      },
      {
        readRepo: { scope, login: true },
        response: { 204: t.Void() },
        detail: { operationId: 'userCurrentPutStar', summary: 'Star a repository' },
      },
    )
    .delete(
      '/user/starred/:owner/:repo',
      async ({ actor, repo, set }) => {
        if (!actor) throw unauthorized()
        await unstar(context, actor, repo.repository)
        set.status = 204
      },
      {
        readRepo: { scope, login: true },
        response: { 204: t.Void() },
        detail: { operationId: 'userCurrentDeleteStar', summary: 'Take a star back' },
      },
    )
    .get(
      '/repos/:owner/:repo/stargazers',
      async ({ actor, repo, query, request, set }) => {
        const { page, total } = paging(context, query, { request, set })
        const found = await listStargazers(context, actor, repo.repository.id, page)
        total(found.total, found.next)
        const viewer = viewerOf(context, actor)
        return found.rows.map((row) => presentUser(row, viewer))
      },
      {
        readRepo: { scope: 'repository' },
        query,
        response: { 200: t.Array(User) },
        detail: {
          operationId: 'repoListStargazers',
          summary: 'Who has starred a repository',
          tags: ['repository'],
          'x-list': 'total',
        },
      },
    )
