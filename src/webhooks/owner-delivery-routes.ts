import { Elysia, t } from 'elysia'
import type { Context } from '../context.ts'
import { gate } from '../http/gate.ts'
import { paging } from '../http/paging.ts'
import { pageQuery } from '../http/query.ts'
import { HookDelivery, HookDeliveryDetail, presentDelivery, presentDeliveryDetail } from '../wire/hook-delivery.ts'
import { getDelivery, listDeliveries, redeliver } from './delivery-service.ts'
import { deliveryQuery, testQuery } from './schema.ts'
import { testHook } from './test-delivery.ts'

const owner = { scope: 'organization', role: 'owner' } as const
const mine = { scope: 'user', personal: true } as const

/** What was sent to an organization's hook, and sending it again. */
export const organizationDeliveryRoutes = (context: Context) =>
  new Elysia({
    name: 'organization-hook-deliveries',
    prefix: '/orgs/:org/hooks/:id',
    detail: { tags: ['organization'] },
  })
    .use(gate(context))
    .get(
      '/deliveries',
      async ({ org, params, query, request, set }) => {
        const { page, links } = paging(context, query, { request, set })
        const found = await listDeliveries(
          context,
          { parent: { ownerId: org.row.id }, id: params.id, status: query.status },
          page,
        )
        links(found.total)
        return found.rows.map(presentDelivery)
      },
      {
        readOrg: owner,
        query: t.Object({ ...pageQuery, ...deliveryQuery }),
        response: { 200: t.Array(HookDelivery) },
        detail: {
          operationId: 'orgListHookDeliveries',
          summary: "List what was sent to an organization's hook",
          'x-list': 'links',
          'x-refuses': [422],
        },
      },
    )
    .get(
      '/deliveries/:uuid',
      async ({ org, params }) => {
        const { delivery } = await getDelivery(context, {
          parent: { ownerId: org.row.id },
          id: params.id,
          uuid: params.uuid,
        })
        return presentDeliveryDetail(delivery)
      },
      {
        readOrg: owner,
        response: { 200: HookDeliveryDetail },
        detail: { operationId: 'orgGetHookDelivery', summary: 'A delivery, with what was sent and answered' },
      },
    )
    .post(
      '/deliveries/:uuid/redeliver',
      async ({ actor, org, params, status }) => {
        const again = await redeliver(context, actor, {
          parent: { ownerId: org.row.id },
          id: params.id,
          uuid: params.uuid,
        })
        return status(202, presentDeliveryDetail(again))
      },
      {
        changeOrg: owner,
        response: { 202: HookDeliveryDetail },
        detail: { operationId: 'orgRedeliverHookDelivery', summary: 'Send a delivery once more' },
      },
    )
    .post(
      '/tests',
      async ({ actor, org, params, query, set }) => {
        await testHook(context, actor, { parent: { ownerId: org.row.id }, id: params.id, ref: query.ref })
        set.status = 204
      },
      {
        changeOrg: owner,
        query: t.Object(testQuery),
        response: { 204: t.Void() },
        detail: { operationId: 'orgTestHook', summary: "Send a test to an organization's hook", 'x-refuses': [422] },
      },
    )

/** What was sent to your hook, and sending it again. */
export const userDeliveryRoutes = (context: Context) =>
  new Elysia({ name: 'user-hook-deliveries', prefix: '/user/hooks/:id', detail: { tags: ['user'] } })
    .use(gate(context))
    .get(
      '/deliveries',
      async ({ actor, params, query, request, set }) => {
        const { page, links } = paging(context, query, { request, set })
        const found = await listDeliveries(
          context,
          { parent: { ownerId: actor.user.id }, id: params.id, status: query.status },
          page,
        )
        links(found.total)
        return found.rows.map(presentDelivery)
      },
      {
        login: mine,
        query: t.Object({ ...pageQuery, ...deliveryQuery }),
        response: { 200: t.Array(HookDelivery) },
        detail: {
          operationId: 'userListHookDeliveries',
          summary: 'List what was sent to your hook',
          'x-list': 'links',
          'x-refuses': [422],
        },
      },
    )
    .get(
      '/deliveries/:uuid',
      async ({ actor, params }) => {
        const { delivery } = await getDelivery(context, {
          parent: { ownerId: actor.user.id },
          id: params.id,
          uuid: params.uuid,
        })
        return presentDeliveryDetail(delivery)
      },
      {
        login: mine,
        response: { 200: HookDeliveryDetail },
        detail: { operationId: 'userGetHookDelivery', summary: 'A delivery, with what was sent and answered' },
      },
    )
    .post(
      '/deliveries/:uuid/redeliver',
      async ({ actor, params, status }) => {
        const again = await redeliver(context, actor, {
          parent: { ownerId: actor.user.id },
          id: params.id,
          uuid: params.uuid,
        })
        return status(202, presentDeliveryDetail(again))
      },
      {
        login: mine,
        response: { 202: HookDeliveryDetail },
        detail: { operationId: 'userRedeliverHookDelivery', summary: 'Send a delivery once more' },
      },
    )
    .post(
      '/tests',
      async ({ actor, params, query, set }) => {
        await testHook(context, actor, { parent: { ownerId: actor.user.id }, id: params.id, ref: query.ref })
        set.status = 204
      },
      {
        login: mine,
        query: t.Object(testQuery),
        response: { 204: t.Void() },
        detail: { operationId: 'userTestHook', summary: 'Send a test to your hook', 'x-refuses': [422] },
      },
    )
