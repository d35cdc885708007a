import { t } from 'elysia'
import type { Context } from '../../context.ts'
import { paging } from '../../http/paging.ts'
import { pageQuery, queryBoolean } from '../../http/query.ts'
import { ActionRunner, ActionRunnersResponse, presentRunner } from '../../wire/actions-runner.ts'
import { EditActionRunnerOption, RegistrationToken } from './schema.ts'
import {
  deleteRunner,
  editRunner,
  getRunner,
  listRunners,
  type RunnerChange,
  type RunnerPath,
  registrationTokenOf,
} from './service.ts'
import type { RunnerScope } from './store.ts'

const listQuery = t.Object({ disabled: queryBoolean(), ...pageQuery })

/** What the API description says of each operation. A route adds its gate. */
export const described = {
  list: (operationId: string) => ({
    query: listQuery,
    response: { 200: ActionRunnersResponse },
    detail: { operationId, summary: 'List runners' },
  }),
  registrationToken: (operationId: string) => ({
    response: { 200: RegistrationToken },
    detail: { operationId, summary: 'The token that makes machines runners' },
  }),
  get: (operationId: string) => ({ response: { 200: ActionRunner }, detail: { operationId, summary: 'A runner' } }),
  edit: (operationId: string) => ({
    body: EditActionRunnerOption,
    response: { 200: ActionRunner },
    detail: { operationId, summary: 'Switch a runner off or on' },
  }),
  delete: (operationId: string) => ({
    response: { 204: t.Void() },
    detail: { operationId, summary: 'Delete a runner' },
  }),
}

interface ListRequest {
  query: typeof listQuery.static
  request: Request
  set: { headers: Record<string, string | number | undefined> }
}

/** The operations on runners. They are the same for each scope: a route says for which. */
export const runnerOperations = (context: Context) => ({
  async list(scope: RunnerScope | undefined, { query, request, set }: ListRequest) {
    const { page } = paging(context, query, { request, set })
    const found = await listRunners(context, { scope, isDisabled: query.disabled }, page)
    return { runners: found.rows.map(presentRunner), total_count: found.total }
  },
  registrationToken: async (scope: RunnerScope) => ({ token: await registrationTokenOf(context, scope) }),
  get: async (path: RunnerPath) => presentRunner(await getRunner(context, path)),
  edit: async (change: RunnerChange, option: EditActionRunnerOption) =>
    presentRunner(await editRunner(context, change, option)),
  async delete(change: RunnerChange, set: { status?: number | string }) {
    await deleteRunner(context, change)
    set.status = 204
  },
})
