import { t } from 'elysia'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { paging } from '../../http/paging.ts'
import { pageQuery } from '../../http/query.ts'
import { ActionVariable, presentSecret, presentVariable, Secret } from '../../wire/actions-value.ts'
import { CreateOrUpdateSecretOption, CreateVariableOption, UpdateVariableOption } from './schema.ts'
import { createVariable, deleteValue, editVariable, getVariable, putSecret } from './service.ts'
import { type Holder, listValues, type ValueOwner } from './store.ts'

const listQuery = t.Object(pageQuery)

/** What the API description says of each operation. A route adds its gate. */
export const described = {
  listSecrets: (operationId: string) => ({
    query: listQuery,
    response: { 200: t.Array(Secret) },
    detail: { operationId, summary: 'List the names of secrets', 'x-list': 'total' as const },
  }),
  putSecret: (operationId: string) => ({
    body: CreateOrUpdateSecretOption,
    response: { 201: t.Void(), 204: t.Void() },
    detail: { operationId, summary: 'Make a secret or change its value', 'x-refuses': [400, 409] },
  }),
  deleteSecret: (operationId: string) => ({
    response: { 204: t.Void() },
    detail: { operationId, summary: 'Delete a secret', 'x-refuses': [400] },
  }),
  listVariables: (operationId: string) => ({
    query: listQuery,
    response: { 200: t.Array(ActionVariable) },
    detail: { operationId, summary: 'List variables', 'x-list': 'total' as const },
  }),
  getVariable: (operationId: string) => ({
    response: { 200: ActionVariable },
    detail: { operationId, summary: 'A variable' },
  }),
  createVariable: (operationId: string) => ({
    body: CreateVariableOption,
    response: { 201: t.Void() },
    detail: { operationId, summary: 'Create a variable', 'x-refuses': [400, 409] },
  }),
  editVariable: (operationId: string) => ({
    body: UpdateVariableOption,
    response: { 204: t.Void() },
    detail: { operationId, summary: 'Change or rename a variable', 'x-refuses': [400, 409] },
  }),
  deleteVariable: (operationId: string) => ({
    response: { 204: t.Void() },
    detail: { operationId, summary: 'Delete a variable', 'x-refuses': [400] },
  }),
}

interface ListRequest {
  query: typeof listQuery.static
  request: Request
  set: { headers: Record<string, string | number | undefined> }
}

interface Change<Body = undefined> {
  actor: Actor
  name: string
  body: Body
  set: { status?: number | string }
}

/** The operations on secrets and variables. They are the same for each kind of holder: a route says whose. */
export function valueOperations(context: Context) {
  const list = async (holder: Holder, { query, request, set }: ListRequest) => {
    const { page, total } = paging(context, query, { request, set })
    const found = await listValues(context.db, holder, page)
    total(found.total)
    return found.rows
  }
  const secret = (owner: ValueOwner) => ({ kind: 'secret', ...owner }) as const
  const variable = (owner: ValueOwner) => ({ kind: 'variable', ...owner }) as const
  return {
    listSecrets: async (owner: ValueOwner, asked: ListRequest) => (await list(secret(owner), asked)).map(presentSecret),
    async putSecret(owner: ValueOwner, { body, set, ...target }: Change<CreateOrUpdateSecretOption>) {
      const isMade = await putSecret(context, { ...target, holder: secret(owner) }, body)
      set.status = isMade ? 201 : 204
    },
    async deleteSecret(owner: ValueOwner, { set, ...target }: Omit<Change, 'body'>) {
      await deleteValue(context, { ...target, holder: secret(owner) })
      set.status = 204
    },
    listVariables: async (owner: ValueOwner, asked: ListRequest) =>
      (await list(variable(owner), asked)).map(presentVariable),
    getVariable: async (owner: ValueOwner, name: string) =>
      presentVariable(await getVariable(context, variable(owner), name)),
    async createVariable(owner: ValueOwner, { body, set, ...target }: Change<CreateVariableOption>) {
      await createVariable(context, { ...target, holder: variable(owner) }, body)
      set.status = 201
    },
    async editVariable(owner: ValueOwner, { body, set, ...target }: Change<UpdateVariableOption>) {
      await editVariable(context, { ...target, holder: variable(owner) }, body)
      set.status = 204
    },
    async deleteVariable(owner: ValueOwner, { set, ...target }: Omit<Change, 'body'>) {
      await deleteValue(context, { ...target, holder: variable(owner) })
      set.status = 204
    },
  }
}
