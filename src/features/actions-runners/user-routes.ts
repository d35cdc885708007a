import { Elysia } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { described, runnerOperations } from './shared-routes.ts'
import { accountScope } from './store.ts'

const mine = { scope: 'user', personal: true } as const

/** Runners for all of one's own repositories. */
export const userRunnerRoutes = (context: Context) => {
  const runners = runnerOperations(context)
  return new Elysia({ name: 'user-runners', prefix: '/user/actions/runners', detail: { tags: ['user'] } })
    .use(gate(context))
    .get('', ({ actor, query, request, set }) => runners.list(accountScope(actor.user.id), { query, request, set }), {
      login: mine,
      ...described.list('getUserRunners'),
    })
    .post('/registration-token', ({ actor }) => runners.registrationToken(accountScope(actor.user.id)), {
      login: mine,
      ...described.registrationToken('userCreateRunnerRegistrationToken'),
    })
    .get(
      '/:runner_id',
      ({ actor, params }) => runners.get({ scope: accountScope(actor.user.id), id: params.runner_id }),
      { login: mine, ...described.get('getUserRunner') },
    )
    .patch(
      '/:runner_id',
      ({ actor, params, body }) =>
        runners.edit({ actor, path: { scope: accountScope(actor.user.id), id: params.runner_id } }, body),
      { login: mine, ...described.edit('updateUserRunner') },
    )
    .delete(
      '/:runner_id',
      ({ actor, params, set }) =>
        runners.delete({ actor, path: { scope: accountScope(actor.user.id), id: params.runner_id } }, set),
      { login: mine, ...described.delete('deleteUserRunner') },
    )
}
