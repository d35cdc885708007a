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
const owner = { scope: 'organization', role: 'owner' } as const

/** Runners for all repositories of an organization. */
export const organizationRunnerRoutes = (context: Context) =>
  new Elysia({ name: 'organization-runners', prefix: '/orgs/:org/actions/runners', detail: { tags: ['organization'] } })
    .use(gate(context))
    .get(
      '',
      async ({ org, query, request, set }) => {
        const { page } = paging(context, query, { request, set })
        const found = await listRunners(
          context.db,
          { scope: accountScope(org.row.id), isDisabled: query.disabled },
          page,
        )
        return { runners: found.rows.map((row) => presentRunner(showRunner(context, row))), total_count: found.total }
      },
      {
        readOrg: owner,
        query: listQuery,
        response: { 200: ActionRunnersResponse },
        detail: { operationId: 'getOrgRunners', summary: "List an organization's runners" },
      },
    )
    .post(
      '/registration-token',
      async ({ org }) => ({ token: await registrationTokenOf(context, accountScope(org.row.id)) }),
      {
        changeOrg: owner,
        response: { 200: RegistrationToken },
        detail: { operationId: 'orgCreateRunnerRegistrationToken', summary: 'The token that makes machines runners' },
      },
    )
    .get(
      '/:runner_id',
      async ({ org, params }) =>
        presentRunner(
          showRunner(context, await getRunner(context, { scope: accountScope(org.row.id), id: params.runner_id })),
        ),
      {
        readOrg: owner,
        response: { 200: ActionRunner },
        detail: { operationId: 'getOrgRunner', summary: 'A runner' },
      },
    )
    .patch(
      '/:runner_id',
      async ({ actor, org, params, body }) => {
        const path = { scope: accountScope(org.row.id), id: params.runner_id }
        return presentRunner(showRunner(context, await editRunner(context, { actor, path }, body)))
      },
      {
        changeOrg: owner,
        body: EditActionRunnerOption,
        response: { 200: ActionRunner },
        detail: { operationId: 'updateOrgRunner', summary: 'Switch a runner off or on' },
      },
    )
    .delete(
      '/:runner_id',
      async ({ actor, org, params, set }) => {
        await deleteRunner(context, { actor, path: { scope: accountScope(org.row.id), id: params.runner_id } })
        set.status = 204
      },
      {
        changeOrg: owner,
        response: { 204: t.Void() },
        detail: { operationId: 'deleteOrgRunner', summary: 'Delete a runner' },
      },
    )
