import { Elysia } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { described, runnerOperations } from './shared-routes.ts'
import { accountScope } from './store.ts'

const owner = { scope: 'organization', role: 'owner' } as const

/** Runners for all repositories of an organization. */
export const organizationRunnerRoutes = (context: Context) => {
  const runners = runnerOperations(context)
  return new Elysia({
    name: 'organization-runners',
    prefix: '/orgs/:org/actions/runners',
    detail: { tags: ['organization'] },
  })
    .use(gate(context))
    .get('', ({ org, query, request, set }) => runners.list(accountScope(org.row.id), { query, request, set }), {
      readOrg: owner,
      ...described.list('getOrgRunners'),
    })
    .post('/registration-token', ({ org }) => runners.registrationToken(accountScope(org.row.id)), {
      changeOrg: owner,
      ...described.registrationToken('orgCreateRunnerRegistrationToken'),
    })
    .get('/:runner_id', ({ org, params }) => runners.get({ scope: accountScope(org.row.id), id: params.runner_id }), {
      readOrg: owner,
      ...described.get('getOrgRunner'),
    })
    .patch(
      '/:runner_id',
      ({ actor, org, params, body }) =>
        runners.edit({ actor, path: { scope: accountScope(org.row.id), id: params.runner_id } }, body),
      { changeOrg: owner, ...described.edit('updateOrgRunner') },
    )
    .delete(
      '/:runner_id',
      ({ actor, org, params, set }) =>
        runners.delete({ actor, path: { scope: accountScope(org.row.id), id: params.runner_id } }, set),
      { changeOrg: owner, ...described.delete('deleteOrgRunner') },
    )
}
