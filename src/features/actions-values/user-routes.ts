import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { paging } from '../../http/paging.ts'
import { pageQuery } from '../../http/query.ts'
import { ActionVariable, presentVariable } from '../../wire/actions-value.ts'
import { CreateOrUpdateSecretOption, CreateVariableOption, UpdateVariableOption } from './schema.ts'
import { createVariable, deleteValue, editVariable, getVariable, putSecret } from './service.ts'
import { listValues } from './store.ts'

const mine = { scope: 'user', personal: true } as const

const secretsOf = (ownerId: number) => ({ kind: 'secret', ownerId }) as const
const variablesOf = (ownerId: number) => ({ kind: 'variable', ownerId }) as const

/** What jobs of all one's own repositories read. Wire: names of secrets are not listed here. */
export const userActionsValueRoutes = (context: Context) =>
  new Elysia({ name: 'user-actions-values', prefix: '/user/actions', detail: { tags: ['user'] } })
    .use(gate(context))
    .put(
      '/secrets/:secretname',
      async ({ actor, params, body, set }) => {
        const made = await putSecret(
          context,
          { actor, holder: secretsOf(actor.user.id), name: params.secretname },
          body,
        )
        set.status = made ? 201 : 204
      },
      {
        login: mine,
        body: CreateOrUpdateSecretOption,
        response: { 201: t.Void(), 204: t.Void() },
        detail: {
          operationId: 'updateUserSecret',
          summary: 'Make a secret or change its value',
          'x-refuses': [400, 409],
        },
      },
    )
    .delete(
      '/secrets/:secretname',
      async ({ actor, params, set }) => {
        await deleteValue(context, { actor, holder: secretsOf(actor.user.id), name: params.secretname })
        set.status = 204
      },
      {
        login: mine,
        response: { 204: t.Void() },
        detail: { operationId: 'deleteUserSecret', summary: 'Delete a secret', 'x-refuses': [400] },
      },
    )
    .get(
      '/variables',
      async ({ actor, query, request, set }) => {
        const { page, total } = paging(context, query, { request, set })
        const found = await listValues(context.db, variablesOf(actor.user.id), page)
        total(found.total)
        return found.rows.map(presentVariable)
      },
      {
        login: mine,
        query: t.Object(pageQuery),
        response: { 200: t.Array(ActionVariable) },
        detail: { operationId: 'getUserVariablesList', summary: 'List your variables', 'x-list': 'total' },
      },
    )
    .get(
      '/variables/:variablename',
      async ({ actor, params }) =>
        presentVariable(await getVariable(context, variablesOf(actor.user.id), params.variablename)),
      {
        login: mine,
        response: { 200: ActionVariable },
        detail: { operationId: 'getUserVariable', summary: 'A variable' },
      },
    )
    .post(
      '/variables/:variablename',
      async ({ actor, params, body, set }) => {
        await createVariable(context, { actor, holder: variablesOf(actor.user.id), name: params.variablename }, body)
        set.status = 201
      },
      {
        login: mine,
        body: CreateVariableOption,
        response: { 201: t.Void() },
        detail: { operationId: 'createUserVariable', summary: 'Create a variable', 'x-refuses': [400, 409] },
      },
    )
    .put(
      '/variables/:variablename',
      async ({ actor, params, body, set }) => {
        await editVariable(context, { actor, holder: variablesOf(actor.user.id), name: params.variablename }, body)
        set.status = 204
      },
      {
        login: mine,
        body: UpdateVariableOption,
        response: { 204: t.Void() },
        detail: { operationId: 'updateUserVariable', summary: 'Change or rename a variable', 'x-refuses': [400, 409] },
      },
    )
    .delete(
      '/variables/:variablename',
      async ({ actor, params, set }) => {
        await deleteValue(context, { actor, holder: variablesOf(actor.user.id), name: params.variablename })
        set.status = 204
      },
      {
        login: mine,
        response: { 204: t.Void() },
        detail: { operationId: 'deleteUserVariable', summary: 'Delete a variable', 'x-refuses': [400] },
      },
    )
