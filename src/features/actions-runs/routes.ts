import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { contentDisposition, FileBody, streamed } from '../../http/download.ts'
import { gate } from '../../http/gate.ts'
import { paging } from '../../http/paging.ts'
import { pageQuery } from '../../http/query.ts'
import { ActionWorkflowJob } from '../../wire/actions-job.ts'
import { ActionWorkflowRun } from '../../wire/actions-run.ts'
import { ActionTaskResponse, presentTask } from '../../wire/actions-task.ts'
import { listTasks } from './lists.ts'
import { readLog } from './logs.ts'
import { deleteRun, getJob, getLoggedJob, getRun } from './service.ts'
import { described, logQuery, presentListedJob, presentOne, runLists } from './shared-routes.ts'

const read = { unit: 'repo.actions', scope: 'repository' } as const
/** Wire: lists, jobs and logs are for whoever has signed in. */
const readSignedIn = { ...read, login: true } as const
/** Runs of workflows in a repository, their jobs and logs. */
export const actionsRunRoutes = (context: Context) => {
  const lists = runLists(context)
  return new Elysia({ name: 'actions-runs', prefix: '/repos/:owner/:repo/actions', detail: { tags: ['repository'] } })
    .use(gate(context))
    .get(
      '/runs',
      ({ repo, query, request, set }) => lists.runs({ repositoryId: repo.repository.id }, { query, request, set }),
      { readRepo: readSignedIn, ...described.runs('getWorkflowRuns') },
    )
    .get('/runs/:run', async ({ repo, params }) => presentOne(context, await getRun(context, repo, params.run)), {
      readRepo: read,
      response: { 200: ActionWorkflowRun },
      detail: { operationId: 'GetWorkflowRun', summary: 'A run of a workflow' },
    })
    .delete(
      '/runs/:run',
      async ({ actor, repo, params, set }) => {
        await deleteRun(context, { actor, repo }, params.run)
        set.status = 204
      },
      {
        changeRepo: { unit: 'repo.actions', level: 'write', scope: 'repository' },
        response: { 204: t.Void() },
        detail: { operationId: 'deleteActionRun', summary: 'Delete a run that has ended', 'x-refuses': [400] },
      },
    )
    .get(
      '/runs/:run/jobs',
      async ({ repo, params, query, request, set }) => {
        const { run } = await getRun(context, repo, params.run)
        return lists.jobs({ repositoryId: repo.repository.id, runId: run.id }, { query, request, set })
      },
      { readRepo: read, ...described.jobs('listWorkflowRunJobs', 'List the jobs of a run') },
    )
    .get(
      '/jobs',
      ({ repo, query, request, set }) => lists.jobs({ repositoryId: repo.repository.id }, { query, request, set }),
      { readRepo: readSignedIn, ...described.jobs('listWorkflowJobs') },
    )
    .get(
      '/jobs/:job_id',
      async ({ repo, params }) => presentListedJob(context, await getJob(context, repo, params.job_id)),
      {
        readRepo: readSignedIn,
        response: { 200: ActionWorkflowJob },
        detail: { operationId: 'getWorkflowJob', summary: 'A job' },
      },
    )
    .get(
      '/tasks',
      async ({ repo, query, request, set }) => {
        const { page, links } = paging(context, query, { request, set })
        const found = await listTasks(context.db, repo.repository.id, page)
        links(found.total)
        return { workflow_runs: found.rows.map((row) => presentTask(row, repo)), total_count: found.total }
      },
      {
        readRepo: read,
        query: t.Object(pageQuery),
        response: { 200: ActionTaskResponse },
        detail: {
          operationId: 'ListActionTasks',
          summary: 'List the attempts of runners at jobs',
          'x-list': 'links',
        },
      },
    )
    .get(
      '/jobs/:job_id/logs',
      async ({ repo, params, query: { attempt } }) => {
        const { taskId, job, run } = await getLoggedJob(context, repo, { text: params.job_id, attempt })
        const name = `${run.workflowFile.replace(/\.ya?ml$/, '')}-${job.name}-${job.id}.log`
        return streamed(streamOf(readLog(context.db, taskId)), {
          headers: {
            'content-type': 'text/plain; charset=utf-8',
            'content-disposition': contentDisposition('attachment', name),
            'access-control-expose-headers': 'Content-Disposition',
          },
        })
      },
      {
        readRepo: readSignedIn,
        query: logQuery(),
        response: { 200: FileBody },
        detail: { operationId: 'downloadActionsRunJobLogs', summary: 'The log of a job', 'x-produces': ['text/plain'] },
      },
    )
}

/** As fast as it is read. */
const streamOf = (pieces: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> =>
  new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await pieces.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await pieces.return(undefined)
    },
  })
