import { Elysia, t } from 'elysia'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import type { Context } from '../../context.ts'
import { contentDisposition, FileBody, streamed } from '../../http/download.ts'
import { gate } from '../../http/gate.ts'
import { paging } from '../../http/paging.ts'
import { pageQuery, queryList, queryText } from '../../http/query.ts'
import { viewerOf } from '../../http/viewer.ts'
import { notFound } from '../../kernel/errors.ts'
import { ActionWorkflowJob, ActionWorkflowJobsResponse, presentJob } from '../../wire/actions-job.ts'
import { ActionWorkflowRun, ActionWorkflowRunsResponse, presentRun, type ShownRun } from '../../wire/actions-run.ts'
import { presentRepository } from '../../wire/repository.ts'
import { loadRepository } from '../repositories/load.ts'
import { listJobs, listRuns } from './lists.ts'
import { readLog } from './logs.ts'
import { deleteRun, getJob, getLoggedJob, getRun } from './service.ts'

const read = { unit: 'repo.actions', scope: 'repository' } as const
/** Wire: lists, jobs and logs are for whoever has signed in. */
const readSignedIn = { ...read, login: true } as const
const status = queryList({ description: 'waiting, queued, in_progress, completed, or a conclusion; any of several' })
const runQuery = t.Object({
  event: queryText(),
  branch: queryText(),
  status,
  actor: queryText({ description: 'Who started it' }),
  head_sha: queryText(),
  ...pageQuery,
})
const order = queryText({ enum: ['asc', 'desc'], description: 'By id' })
const jobQuery = t.Object({ status, order, ...pageQuery })

/** Runs of workflows in a repository, their jobs and logs. */
export const actionsRunRoutes = (context: Context) =>
  new Elysia({ name: 'actions-runs', prefix: '/repos/:owner/:repo/actions', detail: { tags: ['repository'] } })
    .use(gate(context))
    .get(
      '/runs',
      async ({ repo, query, request, set }) => {
        const { page, links } = paging(context, query, { request, set })
        const { event, branch, status: statuses, actor, head_sha: headSha } = query
        const filter = { repositoryId: repo.repository.id, event, branch, statuses, actor, headSha }
        const found = await listRuns(context.db, filter, page)
        links(found.total)
        return { workflow_runs: await presentRuns(context, repo, found.rows), total_count: found.total }
      },
      {
        readRepo: readSignedIn,
        query: runQuery,
        response: { 200: ActionWorkflowRunsResponse },
        detail: {
          operationId: 'getWorkflowRuns',
          summary: 'List the runs of workflows',
          'x-list': 'links',
          'x-refuses': [400],
        },
      },
    )
    .get('/runs/:run', async ({ repo, params }) => presentOne(context, repo, await getRun(context, repo, params.run)), {
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
        return jobs(context, repo, { query, runId: run.id, request, set })
      },
      {
        readRepo: read,
        query: jobQuery,
        response: { 200: ActionWorkflowJobsResponse },
        detail: {
          operationId: 'listWorkflowRunJobs',
          summary: 'List the jobs of a run',
          'x-list': 'links',
          'x-refuses': [400],
        },
      },
    )
    .get('/jobs', async ({ repo, query, request, set }) => jobs(context, repo, { query, request, set }), {
      readRepo: readSignedIn,
      query: jobQuery,
      response: { 200: ActionWorkflowJobsResponse },
      detail: { operationId: 'listWorkflowJobs', summary: 'List jobs', 'x-list': 'links', 'x-refuses': [400] },
    })
    .get('/jobs/:job_id', async ({ repo, params }) => presentJob(await getJob(context, repo, params.job_id), repo), {
      readRepo: readSignedIn,
      response: { 200: ActionWorkflowJob },
      detail: { operationId: 'getWorkflowJob', summary: 'A job' },
    })
    .get(
      '/jobs/:job_id/logs',
      async ({ repo, params }) => {
        const { taskId, job, workflowFile } = await getLoggedJob(context, repo, params.job_id)
        const name = `${workflowFile.replace(/\.ya?ml$/, '')}-${job.name}-${job.id}.log`
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
        response: { 200: FileBody },
        detail: { operationId: 'downloadActionsRunJobLogs', summary: 'The log of a job', 'x-produces': ['text/plain'] },
      },
    )

interface JobList {
  query: typeof jobQuery.static
  runId?: number
  request: Request
  set: { headers: Record<string, string | number | undefined> }
}

async function jobs(context: Context, repo: RepositoryAccess, { query, runId, request, set }: JobList) {
  const { page, links } = paging(context, query, { request, set })
  const filter = {
    repositoryId: repo.repository.id,
    runId,
    statuses: query.status,
    isNewestFirst: query.order === 'desc',
  }
  const found = await listJobs(context.db, filter, page)
  links(found.total)
  return { jobs: found.rows.map((row) => presentJob(row, repo)), total_count: found.total }
}

/** Wire: the repository in a run is as visitors see it. */
async function presentRuns(context: Context, { repository }: RepositoryAccess, rows: readonly ShownRun[]) {
  if (rows.length === 0) return []
  const viewer = viewerOf(context, undefined)
  const shown = await loadRepository(context, undefined, repository.id)
  // Deleted between the gate and here.
  if (!shown) throw notFound()
  const seen = presentRepository(shown, viewer)
  return rows.map((row) => presentRun(row, seen, viewer))
}

async function presentOne(context: Context, repo: RepositoryAccess, row: ShownRun): Promise<ActionWorkflowRun> {
  const [run] = await presentRuns(context, repo, [row])
  if (!run) throw notFound()
  return run
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
