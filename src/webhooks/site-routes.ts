import { Elysia, t } from 'elysia'
import type { Context } from '../context.ts'
import { gate } from '../http/gate.ts'
import { paging } from '../http/paging.ts'
import { pageQuery, queryText } from '../http/query.ts'
import { Hook, presentHook } from '../wire/hook.ts'
import { CreateHookOption, EditHookOption } from './schema.ts'
import { createHook, deleteHook, editHook, getHook, showHook } from './service.ts'
import { type HookParent, listHooks } from './store.ts'

const site: HookParent = { scopes: ['site', 'default'] }

/** Wire: an unknown type means the hooks of the whole site. */
function listed(type: string | undefined): HookParent {
  if (type === 'all') return site
  return { scopes: [type === 'default' ? 'default' : 'site'] }
}

/** Hooks of the whole site, and those that new repositories get. */
export const siteHookRoutes = (context: Context) =>
  new Elysia({ name: 'site-hooks', prefix: '/admin/hooks', detail: { tags: ['admin'] } })
    .use(gate(context))
    .get(
      '',
      async ({ query, request, set }) => {
        const { page, links } = paging(context, query, { request, set })
        const found = await listHooks(context.db, listed(query.type), page)
        links(found.total)
        return found.rows.map((hook) => presentHook(showHook(context, hook)))
      },
      {
        admin: true,
        query: t.Object({
          ...pageQuery,
          type: queryText({ description: 'system, default or all', enum: ['system', 'default', 'all'] }),
        }),
        response: { 200: t.Array(Hook) },
        detail: { operationId: 'adminListHooks', summary: 'List the hooks of the site', 'x-list': 'links' },
      },
    )
    .post(
      '',
      async ({ actor, body, status }) =>
        status(201, presentHook(await createHook(context, { actor, parent: site, option: body }))),
      {
        admin: true,
        body: CreateHookOption,
        response: { 201: Hook },
        detail: { operationId: 'adminCreateHook', summary: 'Create a hook', 'x-refuses': [400] },
      },
    )
    .get('/:id', async ({ params }) => presentHook(showHook(context, await getHook(context, site, params.id))), {
      admin: true,
      response: { 200: Hook },
      detail: { operationId: 'adminGetHook', summary: 'A hook' },
    })
    .patch(
      '/:id',
      async ({ actor, params, body }) =>
        presentHook(await editHook(context, { actor, parent: site, id: params.id, option: body })),
      {
        admin: true,
        body: EditHookOption,
        response: { 200: Hook },
        detail: { operationId: 'adminEditHook', summary: 'Change a hook', 'x-refuses': [400] },
      },
    )
    .delete(
      '/:id',
      async ({ actor, params, set }) => {
        await deleteHook(context, { actor, parent: site, id: params.id })
        set.status = 204
      },
      {
        admin: true,
        response: { 204: t.Void() },
        detail: { operationId: 'adminDeleteHook', summary: 'Delete a hook' },
      },
    )
