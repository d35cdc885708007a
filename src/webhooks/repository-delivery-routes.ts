import { Elysia, t } from 'elysia'
import type { RepositoryAccess } from '../access/repository-access.ts'
import type { Context } from '../context.ts'
import { gate } from '../http/gate.ts'
import { paging } from '../http/paging.ts'
import { pageQuery } from '../http/query.ts'
import { HookDelivery, HookDeliveryDetail, presentDelivery, presentDeliveryDetail } from '../wire/hook-delivery.ts'
import { getDelivery, listDeliveries, redeliver } from './delivery-service.ts'
import { deliveryQuery, testQuery } from './schema.ts'
import { testHook } from './test-delivery.ts'

const change = { scope: 'repository', level: 'admin', evenArchived: true } as const
const of = (repo: RepositoryAccess) => ({ repositoryId: repo.repository.id })

/** What was sent to a repository's hook, and sending it again. */
export const repositoryDeliveryRoutes = (context: Context) =>
  new Elysia({
    name: 'repository-hook-deliveries',
    prefix: '/repos/:owner/:repo/hooks/:id',
    detail: { tags: ['repository'] },
  })
    .use(gate(context))
    .get(
      '/deliveries',
      async ({ repo, params, query, request, set }) => {
        const { page, links } = paging(context, query, { request, set })
        const found = await listDeliveries(context, { parent: of(repo), id: params.id, status: query.status }, page)
        links(found.total)
        return found.rows.map(presentDelivery)
      },
      {
        changeRepo: change,
        query: t.Object({ ...pageQuery, ...deliveryQuery }),
        response: { 200: t.Array(HookDelivery) },
        detail: {
          operationId: 'repoListHookDeliveries',
          summary: "List what was sent to a repository's hook",
          'x-list': 'links',
          'x-refuses': [422],
        },
      },
    )
    .get(
      '/deliveries/:uuid',
      async ({ repo, params }) => {
        const { delivery } = await getDelivery(context, { parent: of(repo), id: params.id, uuid: params.uuid })
        return presentDeliveryDetail(delivery)
      },
      {
        changeRepo: change,
        response: { 200: HookDeliveryDetail },
        detail: { operationId: 'repoGetHookDelivery', summary: 'A delivery, with what was sent and answered' },
      },
    )
    .post(
      '/deliveries/:uuid/redeliver',
      async ({ actor, repo, params, status }) => {
        const again = await redeliver(context, actor, { parent: of(repo), id: params.id, uuid: params.uuid })
        return status(202, presentDeliveryDetail(again))
      },
      {
        changeRepo: change,
        response: { 202: HookDeliveryDetail },
        detail: { operationId: 'repoRedeliverHookDelivery', summary: 'Send a delivery once more' },
      },
    )
    .post(
      '/tests',
      async ({ actor, repo, params, query, set }) => {
        await testHook(context, actor, { parent: of(repo), id: params.id, ref: query.ref })
        set.status = 204
      },
      {
        changeRepo: change,
        query: t.Object(testQuery),
        response: { 204: t.Void() },
        detail: { operationId: 'repoTestHook', summary: "Send a test to a repository's hook", 'x-refuses': [422] },
      },
    )
