import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { paging } from '../../http/paging.ts'
import { pageQuery } from '../../http/query.ts'
import { ActionVariable, presentSecret, presentVariable, Secret } from '../../wire/actions-value.ts'
import { CreateOrUpdateSecretOption, CreateVariableOption, UpdateVariableOption } from './schema.ts'
import { createVariable, deleteValue, editVariable, getVariable, putSecret } from './service.ts'
import { listValues } from './store.ts'

/** Wire: for its owners alone; also while the repository is archived. */
const administer = { level: 'owner', scope: 'repository', evenArchived: true } as const

const secretsOf = (repositoryId: number) => ({ kind: 'secret', repositoryId }) as const
const variablesOf = (repositoryId: number) => ({ kind: 'variable', repositoryId }) as const

/** What jobs of one repository read. */
export const repositoryActionsValueRoutes = (context: Context) =>
  new Elysia({
    name: 'repository-actions-values',
    prefix: '/repos/:owner/:repo/actions',
    detail: { tags: ['repository'] },
  })
    .use(gate(context))
    .get(
      '/secrets',
      async ({ repo, query, request, set }) => {
        const { page, total } = paging(context, query, { request, set })
        const found = await listValues(context.db, secretsOf(repo.repository.id), page)
        total(found.total)
        return found.rows.map(presentSecret)
      },
      {
        changeRepo: administer,
        query: t.Object(pageQuery),
        response: { 200: t.Array(Secret) },
        detail: { operationId: 'repoListActionsSecrets', summary: 'List the names of secrets', 'x-list': 'total' },
      },
    )
    .put(
      '/secrets/:secretname',
      async ({ actor, repo, params, body, set }) => {
        const made = await putSecret(
          context,
          { actor, holder: secretsOf(repo.repository.id), name: params.secretname },
          body,
        )
        set.status = made ? 201 : 204
      },
      {
        changeRepo: administer,
        body: CreateOrUpdateSecretOption,
        response: { 201: t.Void(), 204: t.Void() },
        detail: {
          operationId: 'updateRepoSecret',
          summary: 'Make a secret or change its value',
          'x-refuses': [400, 409],
        },
      },
    )
    .delete(
      '/secrets/:secretname',
      async ({ actor, repo, params, set }) => {
        await deleteValue(context, { actor, holder: secretsOf(repo.repository.id), name: params.secretname })
        set.status = 204
      },
      {
        changeRepo: administer,
        response: { 204: t.Void() },
        detail: { operationId: 'deleteRepoSecret', summary: 'Delete a secret', 'x-refuses': [400] },
      },
    )
    .get(
      '/variables',
      async ({ repo, query, request, set }) => {
        const { page, total } = paging(context, query, { request, set })
        const found = await listValues(context.db, variablesOf(repo.repository.id), page)
        total(found.total)
        return found.rows.map(presentVariable)
      },
      {
        changeRepo: administer,
        query: t.Object(pageQuery),
        response: { 200: t.Array(ActionVariable) },
        detail: { operationId: 'getRepoVariablesList', summary: 'List variables', 'x-list': 'total' },
      },
    )
    .get(
      '/variables/:variablename',
      async ({ repo, params }) =>
        presentVariable(await getVariable(context, variablesOf(repo.repository.id), params.variablename)),
      {
        changeRepo: administer,
        response: { 200: ActionVariable },
        detail: { operationId: 'getRepoVariable', summary: 'A variable' },
      },
    )
    .post(
      '/variables/:variablename',
      async ({ actor, repo, params, body, set }) => {
        await createVariable(
          context,
          { actor, holder: variablesOf(repo.repository.id), name: params.variablename },
          body,
        )
        set.status = 201
      },
      {
        changeRepo: administer,
        body: CreateVariableOption,
        response: { 201: t.Void() },
        detail: { operationId: 'createRepoVariable', summary: 'Create a variable', 'x-refuses': [400, 409] },
      },
    )
    .put(
      '/variables/:variablename',
      async ({ actor, repo, params, body, set }) => {
        await editVariable(context, { actor, holder: variablesOf(repo.repository.id), name: params.variablename }, body)
        set.status = 204
      },
      {
        changeRepo: administer,
        body: UpdateVariableOption,
        response: { 204: t.Void() },
        detail: { operationId: 'updateRepoVariable', summary: 'Change or rename a variable', 'x-refuses': [400, 409] },
      },
    )
    .delete(
      '/variables/:variablename',
      async ({ actor, repo, params, set }) => {
        await deleteValue(context, { actor, holder: variablesOf(repo.repository.id), name: params.variablename })
        set.status = 204
      },
      {
        changeRepo: administer,
        response: { 204: t.Void() },
        detail: { operationId: 'deleteRepoVariable', summary: 'Delete a variable', 'x-refuses': [400] },
      },
    )
