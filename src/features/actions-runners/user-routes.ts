import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { paging } from '../../http/paging.ts'
import { pageQuery, queryBoolean } from '../../http/query.ts'
import { ActionRunner, ActionRunnersResponse, presentRunner } from '../../wire/actions-runner.ts'
import { EditActionRunnerOption, RegistrationToken } from './schema.ts'
import { deleteRunner, editRunner, getRunner, registrationTokenOf, showRunner } from './service.ts'
import { accountScope, listRunners } from './store.ts'

const listQuery = t.Object({ disabled: queryBoolean(), ...pageQuery })
const mine = { scope: 'user', personal: true } as const

/** Runners for all of one's own repositories. */
export const userRunnerRoutes = (context: Context) =>
  new Elysia({ name: 'user-runners', prefix: '/user/actions/runners', detail: { tags: ['user'] } })
    .use(gate(context))
    .get(
      '',
      async ({ actor, query, request, set }) => {
        const { page } = paging(context, query, { request, set })
        const found = await listRunners(
          context.db,
          { scope: accountScope(actor.user.id), isDisabled: query.disabled },
          page,
        )
        return { runners: found.rows.map((row) => presentRunner(showRunner(context, row))), total_count: found.total }
      },
      {
        login: mine,
        query: listQuery,
        response: { 200: ActionRunnersResponse },
        detail: { operationId: 'getUserRunners', summary: 'List your runners' },
      },
    )
    .post(
      '/registration-token',
      async ({ actor }) => ({ token: await registrationTokenOf(context, accountScope(actor.user.id)) }),
      {
        login: mine,
        response: { 200: RegistrationToken },
        detail: { operationId: 'userCreateRunnerRegistrationToken', summary: 'The token that makes machines runners' },
      },
    )
    .get(
      '/:runner_id',
      async ({ actor, params }) =>
        presentRunner(
          showRunner(context, await getRunner(context, { scope: accountScope(actor.user.id), id: params.runner_id })),
        ),
      {
        login: mine,
        response: { 200: ActionRunner },
        detail: { operationId: 'getUserRunner', summary: 'A runner' },
      },
    )
    .patch(
      '/:runner_id',
      async ({ actor, params, body }) => {
        const path = { scope: accountScope(actor.user.id), id: params.runner_id }
        return presentRunner(showRunner(context, await editRunner(context, { actor, path }, body)))
      },
      {
        login: mine,
        body: EditActionRunnerOption,
        response: { 200: ActionRunner },
        detail: { operationId: 'updateUserRunner', summary: 'Switch a runner off or on' },
      },
    )
    .delete(
      '/:runner_id',
      async ({ actor, params, set }) => {
        await deleteRunner(context, { actor, path: { scope: accountScope(actor.user.id), id: params.runner_id } })
        set.status = 204
      },
      {
        login: mine,
        response: { 204: t.Void() },
        detail: { operationId: 'deleteUserRunner', summary: 'Delete a runner' },
      },
    )
