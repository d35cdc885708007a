import { Elysia } from 'elysia'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { described, valueOperations } from './shared-routes.ts'

const mine = { scope: 'user', personal: true } as const
const of = ({ user }: Actor) => ({ ownerId: user.id })

/** What jobs of all one's own repositories read. Wire: names of secrets are not listed here. */
export const userActionsValueRoutes = (context: Context) => {
  const values = valueOperations(context)
  return new Elysia({ name: 'user-actions-values', prefix: '/user/actions', detail: { tags: ['user'] } })
    .use(gate(context))
    .put(
      '/secrets/:secretname',
      ({ actor, params, body, set }) => values.putSecret(of(actor), { actor, name: params.secretname, body, set }),
      { login: mine, ...described.putSecret('updateUserSecret') },
    )
    .delete(
      '/secrets/:secretname',
      ({ actor, params, set }) => values.deleteSecret(of(actor), { actor, name: params.secretname, set }),
      { login: mine, ...described.deleteSecret('deleteUserSecret') },
    )
    .get('/variables', ({ actor, query, request, set }) => values.listVariables(of(actor), { query, request, set }), {
      login: mine,
      ...described.listVariables('getUserVariablesList'),
    })
    .get('/variables/:variablename', ({ actor, params }) => values.getVariable(of(actor), params.variablename), {
      login: mine,
      ...described.getVariable('getUserVariable'),
    })
    .post(
      '/variables/:variablename',
      ({ actor, params, body, set }) =>
        values.createVariable(of(actor), { actor, name: params.variablename, body, set }),
      { login: mine, ...described.createVariable('createUserVariable') },
    )
    .put(
      '/variables/:variablename',
      ({ actor, params, body, set }) => values.editVariable(of(actor), { actor, name: params.variablename, body, set }),
      { login: mine, ...described.editVariable('updateUserVariable') },
    )
    .delete(
      '/variables/:variablename',
      ({ actor, params, set }) => values.deleteVariable(of(actor), { actor, name: params.variablename, set }),
      { login: mine, ...described.deleteVariable('deleteUserVariable') },
    )
}
