import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { queryBoolean } from '../../http/query.ts'
import {
  ActionWorkflow,
  ActionWorkflowResponse,
  presentRunDetails,
  presentWorkflow,
  RunDetails,
} from '../../wire/actions-workflow.ts'
import { dispatchWorkflow } from './dispatch.ts'
import { CreateActionWorkflowDispatch } from './schema.ts'
import { disable, enable, getWorkflow, listWorkflows } from './service.ts'

const read = { unit: 'repo.actions', scope: 'repository', login: true } as const
const write = { unit: 'repo.actions', level: 'write', scope: 'repository' } as const

/** Workflows of the default branch: seen, switched off and on, and started by hand. */
export const actionsWorkflowRoutes = (context: Context) =>
  new Elysia({
    name: 'actions-workflows',
    prefix: '/repos/:owner/:repo/actions/workflows',
    detail: { tags: ['repository'] },
  })
    .use(gate(context))
    .get(
      '',
      async ({ repo }) => {
        const workflows = await listWorkflows(context, repo)
        return { workflows: workflows.map((one) => presentWorkflow(one, repo)), total_count: workflows.length }
      },
      {
        readRepo: read,
        response: { 200: ActionWorkflowResponse },
        detail: { operationId: 'ActionsListRepositoryWorkflows', summary: 'List the workflows of the default branch' },
      },
    )
    .get(
      '/:workflow_id',
      async ({ repo, params }) => presentWorkflow(await getWorkflow(context, repo, params.workflow_id), repo),
      {
        readRepo: read,
        response: { 200: ActionWorkflow },
        detail: { operationId: 'ActionsGetWorkflow', summary: 'A workflow of the default branch, by its file' },
      },
    )
    .put(
      '/:workflow_id/disable',
      async ({ actor, repo, params, set }) => {
        await disable(context, { actor, repo }, params.workflow_id)
        set.status = 204
      },
      {
        changeRepo: write,
        response: { 204: t.Void() },
        detail: { operationId: 'ActionsDisableWorkflow', summary: 'Switch a workflow off: nothing starts it' },
      },
    )
    .put(
      '/:workflow_id/enable',
      async ({ actor, repo, params, set }) => {
        await enable(context, { actor, repo }, params.workflow_id)
        set.status = 204
      },
      {
        changeRepo: write,
        response: { 204: t.Void() },
        detail: { operationId: 'ActionsEnableWorkflow', summary: 'Switch a workflow on again' },
      },
    )
    .post(
      '/:workflow_id/dispatches',
      async ({ actor, repo, params, query, body, status }) => {
        const run = await dispatchWorkflow(context, { actor, repo }, params.workflow_id, body)
        return query.return_run_details ? status(200, presentRunDetails(run.id, repo)) : status(204, undefined)
      },
      {
        changeRepo: write,
        query: t.Object({
          return_run_details: queryBoolean({ description: 'Answer 200 with the run, not 204 with nothing' }),
        }),
        body: CreateActionWorkflowDispatch,
        response: { 200: RunDetails, 204: t.Void() },
        detail: { operationId: 'ActionsDispatchWorkflow', summary: 'Start a workflow by hand' },
      },
    )
