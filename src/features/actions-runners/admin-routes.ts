import { Elysia } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { described, runnerOperations } from './shared-routes.ts'
import { siteScope } from './store.ts'

/** Runners of all scopes. The token makes those that work for the whole site. */
export const adminRunnerRoutes = (context: Context) => {
  const runners = runnerOperations(context)
  return new Elysia({ name: 'admin-runners', prefix: '/admin/actions/runners', detail: { tags: ['admin'] } })
    .use(gate(context))
    .get('', ({ query, request, set }) => runners.list(undefined, { query, request, set }), {
      admin: true,
      ...described.list('getAdminRunners'),
    })
    .post('/registration-token', () => runners.registrationToken(siteScope), {
      admin: true,
      ...described.registrationToken('adminCreateRunnerRegistrationToken'),
    })
    .get('/:runner_id', ({ params }) => runners.get({ scope: undefined, id: params.runner_id }), {
      admin: true,
      ...described.get('getAdminRunner'),
    })
    .patch(
      '/:runner_id',
      ({ actor, params, body }) => runners.edit({ actor, path: { scope: undefined, id: params.runner_id } }, body),
      { admin: true, ...described.edit('updateAdminRunner') },
    )
    .delete(
      '/:runner_id',
      ({ actor, params, set }) => runners.delete({ actor, path: { scope: undefined, id: params.runner_id } }, set),
      { admin: true, ...described.delete('deleteAdminRunner') },
    )
}
