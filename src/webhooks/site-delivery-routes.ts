import { Elysia, t } from 'elysia'
import type { Context } from '../context.ts'
import { gate } from '../http/gate.ts'
import { paging } from '../http/paging.ts'
import { pageQuery } from '../http/query.ts'
import { HookDelivery, HookDeliveryDetail, presentDelivery, presentDeliveryDetail } from '../wire/hook-delivery.ts'
import { getDelivery, listDeliveries, redeliver } from './delivery-service.ts'
import { deliveryQuery, testQuery } from './schema.ts'
import type { HookParent } from './store.ts'
import { testHook } from './test-delivery.ts'

const site: HookParent = { scopes: ['site', 'default'] }

/** What was sent to a hook of the site, and sending it again. */
export const siteDeliveryRoutes = (context: Context) =>
  new Elysia({ name: 'site-hook-deliveries', prefix: '/admin/hooks/:id', detail: { tags: ['admin'] } })
    .use(gate(context))
    .get(
      '/deliveries',
      async ({ params, query, request, set }) => {
        const { page, links } = paging(context, query, { request, set })
        const found = await listDeliveries(context, { parent: site, id: params.id, status: query.status }, page)
        links(found.total)
        return found.rows.map(presentDelivery)
      },
      {
        admin: true,
        query: t.Object({ ...pageQuery, ...deliveryQuery }),
        response: { 200: t.Array(HookDelivery) },
        detail: {
          operationId: 'adminListHookDeliveries',
          summary: 'List what was sent to a hook of the site',
          'x-list': 'links',
          'x-refuses': [422],
        },
      },
    )
    .get(
      '/deliveries/:uuid',
      async ({ params }) => {
        const { delivery } = await getDelivery(context, { parent: site, id: params.id, uuid: params.uuid })
        return presentDeliveryDetail(delivery)
      },
      {
        admin: true,
        response: { 200: HookDeliveryDetail },
        detail: { operationId: 'adminGetHookDelivery', summary: 'A delivery, with what was sent and answered' },
      },
    )
    .post(
      '/deliveries/:uuid/redeliver',
      async ({ actor, params, status }) => {
        const again = await redeliver(context, actor, { parent: site, id: params.id, uuid: params.uuid })
        return status(202, presentDeliveryDetail(again))
      },
      {
        admin: true,
        response: { 202: HookDeliveryDetail },
        detail: { operationId: 'adminRedeliverHookDelivery', summary: 'Send a delivery once more' },
      },
    )
    .post(
      '/tests',
      async ({ actor, params, query, set }) => {
        await testHook(context, actor, { parent: site, id: params.id, ref: query.ref })
        set.status = 204
      },
      {
        admin: true,
        query: t.Object(testQuery),
        response: { 204: t.Void() },
        detail: { operationId: 'adminTestHook', summary: 'Send a test to a hook of the site', 'x-refuses': [422] },
      },
    )
