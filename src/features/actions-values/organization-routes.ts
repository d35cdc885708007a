import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { paging } from '../../http/paging.ts'
import { pageQuery } from '../../http/query.ts'
import { ActionVariable, presentSecret, presentVariable, Secret } from '../../wire/actions-value.ts'
import { CreateOrUpdateSecretOption, CreateVariableOption, UpdateVariableOption } from './schema.ts'
import { createVariable, deleteValue, editVariable, getVariable, putSecret } from './service.ts'
import { listValues } from './store.ts'

const owner = { scope: 'organization', role: 'owner' } as const

const secretsOf = (ownerId: number) => ({ kind: 'secret', ownerId }) as const
const variablesOf = (ownerId: number) => ({ kind: 'variable', ownerId }) as const

/** What jobs of all repositories of an organization read. */
export const organizationActionsValueRoutes = (context: Context) =>
  new Elysia({
    name: 'organization-actions-values',
    prefix: '/orgs/:org/actions',
    detail: { tags: ['organization'] },
  })
    .use(gate(context))
    .get(
      '/secrets',
      async ({ org, query, request, set }) => {
        const { page, total } = paging(context, query, { request, set })
        const found = await listValues(context.db, secretsOf(org.row.id), page)
        total(found.total)
        return found.rows.map(presentSecret)
      },
      {
        readOrg: owner,
        query: t.Object(pageQuery),
        response: { 200: t.Array(Secret) },
        detail: {
          operationId: 'orgListActionsSecrets',
          summary: "List the names of an organization's secrets",
          'x-list': 'total',
        },
      },
    )
    .put(
      '/secrets/:secretname',
      async ({ actor, org, params, body, set }) => {
        const made = await putSecret(context, { actor, holder: secretsOf(org.row.id), name: params.secretname }, body)
        set.status = made ? 201 : 204
      },
      {
        changeOrg: owner,
        body: CreateOrUpdateSecretOption,
        response: { 201: t.Void(), 204: t.Void() },
        detail: {
          operationId: 'updateOrgSecret',
          summary: 'Make a secret or change its value',
          'x-refuses': [400, 409],
        },
      },
    )
    .delete(
      '/secrets/:secretname',
      async ({ actor, org, params, set }) => {
        await deleteValue(context, { actor, holder: secretsOf(org.row.id), name: params.secretname })
        set.status = 204
      },
      {
        changeOrg: owner,
        response: { 204: t.Void() },
        detail: { operationId: 'deleteOrgSecret', summary: 'Delete a secret', 'x-refuses': [400] },
      },
    )
    .get(
      '/variables',
      async ({ org, query, request, set }) => {
        const { page, total } = paging(context, query, { request, set })
        const found = await listValues(context.db, variablesOf(org.row.id), page)
        total(found.total)
        return found.rows.map(presentVariable)
      },
      {
        readOrg: owner,
        query: t.Object(pageQuery),
        response: { 200: t.Array(ActionVariable) },
        detail: { operationId: 'getOrgVariablesList', summary: "List an organization's variables", 'x-list': 'total' },
      },
    )
    .get(
      '/variables/:variablename',
      async ({ org, params }) =>
        presentVariable(await getVariable(context, variablesOf(org.row.id), params.variablename)),
      {
        readOrg: owner,
        response: { 200: ActionVariable },
        detail: { operationId: 'getOrgVariable', summary: 'A variable' },
      },
    )
    .post(
      '/variables/:variablename',
      async ({ actor, org, params, body, set }) => {
        await createVariable(context, { actor, holder: variablesOf(org.row.id), name: params.variablename }, body)
        set.status = 201
      },
      {
        changeOrg: owner,
        body: CreateVariableOption,
        response: { 201: t.Void() },
        detail: { operationId: 'createOrgVariable', summary: 'Create a variable', 'x-refuses': [400, 409] },
      },
    )
    .put(
      '/variables/:variablename',
      async ({ actor, org, params, body, set }) => {
        await editVariable(context, { actor, holder: variablesOf(org.row.id), name: params.variablename }, body)
        set.status = 204
      },
      {
        changeOrg: owner,
        body: UpdateVariableOption,
        response: { 204: t.Void() },
        detail: { operationId: 'updateOrgVariable', summary: 'Change or rename a variable', 'x-refuses': [400, 409] },
      },
    )
    .delete(
      '/variables/:variablename',
      async ({ actor, org, params, set }) => {
        await deleteValue(context, { actor, holder: variablesOf(org.row.id), name: params.variablename })
        set.status = 204
      },
      {
        changeOrg: owner,
        response: { 204: t.Void() },
        detail: { operationId: 'deleteOrgVariable', summary: 'Delete a variable', 'x-refuses': [400] },
      },
    )
