import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { paging } from '../../http/paging.ts'
import { pageQuery, queryBoolean } from '../../http/query.ts'
import { ActionRunner, ActionRunnersResponse, presentRunner } from '../../wire/actions-runner.ts'
import { EditActionRunnerOption, RegistrationToken } from './schema.ts'
import { deleteRunner, editRunner, getRunner, registrationTokenOf, showRunner } from './service.ts'
import { listRunners, siteScope } from './store.ts'

const listQuery = t.Object({ disabled: queryBoolean(), ...pageQuery })

/** Runners of all scopes. The token makes those that work for the whole site. */
export const adminRunnerRoutes = (context: Context) =>
  new Elysia({ name: 'admin-runners', prefix: '/admin/actions/runners', detail: { tags: ['admin'] } })
    .use(gate(context))
    .get(
      '',
      async ({ query, request, set }) => {
        const { page } = paging(context, query, { request, set })
        const found = await listRunners(context.db, { scope: undefined, isDisabled: query.disabled }, page)
        return { runners: found.rows.map((row) => presentRunner(showRunner(context, row))), total_count: found.total }
      },
      {
        admin: true,
        query: listQuery,
        response: { 200: ActionRunnersResponse },
        detail: { operationId: 'getAdminRunners', summary: 'List all runners' },
      },
    )
    .post('/registration-token', async () => ({ token: await registrationTokenOf(context, siteScope) }), {
      admin: true,
      response: { 200: RegistrationToken },
      detail: { operationId: 'adminCreateRunnerRegistrationToken', summary: 'The token that makes machines runners' },
    })
    .get(
      '/:runner_id',
      async ({ params }) =>
        presentRunner(showRunner(context, await getRunner(context, { scope: undefined, id: params.runner_id }))),
      {
        admin: true,
        response: { 200: ActionRunner },
        detail: { operationId: 'getAdminRunner', summary: 'A runner' },
      },
    )
    .patch(
      '/:runner_id',
      async ({ actor, params, body }) => {
        const path = { scope: undefined, id: params.runner_id }
        return presentRunner(showRunner(context, await editRunner(context, { actor, path }, body)))
      },
      {
        admin: true,
        body: EditActionRunnerOption,
        response: { 200: ActionRunner },
        detail: { operationId: 'updateAdminRunner', summary: 'Switch a runner off or on' },
      },
    )
    .delete(
      '/:runner_id',
      async ({ actor, params, set }) => {
        await deleteRunner(context, { actor, path: { scope: undefined, id: params.runner_id } })
        set.status = 204
      },
      {
        admin: true,
        response: { 204: t.Void() },
        detail: { operationId: 'deleteAdminRunner', summary: 'Delete a runner' },
      },
    )
