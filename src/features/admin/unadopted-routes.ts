import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { paging } from '../../http/paging.ts'
import { pageQuery, queryText } from '../../http/query.ts'
import { adoptRepository, deleteUnadopted, listUnadopted } from './unadopted.ts'

/** Folders below the store, `<owner>/<name>.git`, that somebody put there. */
export const unadoptedRoutes = (context: Context) =>
  new Elysia({ name: 'admin-unadopted', prefix: '/admin/unadopted', detail: { tags: ['admin'] } })
    .use(gate(context))
    .get(
      '',
      async ({ query, request, set }) => {
        const { page, total } = paging(context, query, { request, set })
        const found = await listUnadopted(context, query.pattern, page)
        total(found.total)
        return found.rows
      },
      {
        admin: true,
        query: t.Object({
          ...pageQuery,
          pattern: queryText({ description: 'A glob over owner/name, such as owner/*' }),
        }),
        response: { 200: t.Array(t.String()) },
        detail: {
          operationId: 'adminUnadoptedList',
          summary: 'List repositories on the disk that nobody has',
          'x-list': 'total',
          'x-refuses': [422],
        },
      },
    )
    .post(
      '/:owner/:repo',
      async ({ actor, params, set }) => {
        await adoptRepository(context, actor, { owner: params.owner, name: params.repo })
        set.status = 204
      },
      {
        admin: true,
        response: { 204: t.Void() },
        detail: {
          operationId: 'adminAdoptRepository',
          summary: 'Make a folder a repository of its owner',
          'x-refuses': [409, 422],
        },
      },
    )
    .delete(
      '/:owner/:repo',
      async ({ actor, params, set }) => {
        await deleteUnadopted(context, actor, { owner: params.owner, name: params.repo })
        set.status = 204
      },
      {
        admin: true,
        response: { 204: t.Void() },
        detail: {
          operationId: 'adminDeleteUnadoptedRepository',
          summary: 'Delete a folder that nobody has',
        },
      },
    )
