import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { ActionWorkflowJob } from '../../wire/actions-job.ts'
import { ActionWorkflowRun } from '../../wire/actions-run.ts'
import { cancel, forceCancel } from './cancel.ts'
import { rerunAll, rerunFailed, rerunJob } from './rerun.ts'
import { getJob, getRun } from './service.ts'
import { presentListedJob, presentOne } from './shared-routes.ts'

const changeRepo = { unit: 'repo.actions', level: 'write', scope: 'repository' } as const

/** Runs are run again and ended. */
export const actionsSteeringRoutes = (context: Context) =>
  new Elysia({ name: 'actions-steering', prefix: '/repos/:owner/:repo/actions/runs', detail: { tags: ['repository'] } })
    .use(gate(context))
    .post(
      '/:run/rerun',
      async ({ actor, repo, params, status }) => {
        await rerunAll(context, { actor, repo }, params.run)
        return status(201, await presentOne(context, await getRun(context, repo, params.run)))
      },
      {
        changeRepo,
        response: { 201: ActionWorkflowRun },
        detail: {
          operationId: 'rerunWorkflowRun',
          summary: 'Run all jobs of a run that is done again',
          'x-refuses': [400, 422],
        },
      },
    )
    .post(
      '/:run/rerun-failed-jobs',
      async ({ actor, repo, params, set }) => {
        await rerunFailed(context, { actor, repo }, params.run)
        set.status = 201
      },
      {
        changeRepo,
        response: { 201: t.Void() },
        detail: {
          operationId: 'rerunFailedWorkflowRun',
          summary: 'Run the jobs that failed or were cancelled again, with those that depend on them',
          'x-refuses': [400, 422],
        },
      },
    )
    .post(
      '/:run/jobs/:job_id/rerun',
      async ({ actor, repo, params, status }) => {
        await rerunJob(context, { actor, repo }, params.run, params.job_id)
        return status(201, presentListedJob(context, await getJob(context, repo, params.job_id)))
      },
      {
        changeRepo,
        response: { 201: ActionWorkflowJob },
        detail: {
          operationId: 'rerunWorkflowJob',
          summary: 'Run a job again, with those that depend on it',
          'x-refuses': [400, 422],
        },
      },
    )
    .post(
      '/:run/cancel',
      async ({ actor, repo, params }) => {
        await cancel(context, { actor, repo }, params.run)
        return presentOne(context, await getRun(context, repo, params.run))
      },
      {
        changeRepo,
        response: { 200: ActionWorkflowRun },
        detail: {
          operationId: 'cancelWorkflowRun',
          summary: 'Ask a run to end: runners are told to stop',
          'x-refuses': [409],
        },
      },
    )
    .post(
      '/:run/force-cancel',
      async ({ actor, repo, params }) => {
        await forceCancel(context, { actor, repo }, params.run)
        return presentOne(context, await getRun(context, repo, params.run))
      },
      {
        changeRepo,
        response: { 200: ActionWorkflowRun },
        detail: {
          operationId: 'forceCancelWorkflowRun',
          summary: 'End a run at once, whatever its jobs and runners want',
          'x-refuses': [409],
        },
      },
    )
