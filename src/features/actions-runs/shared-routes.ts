import { t } from 'elysia'
import { addressesOf } from '../../access/repository-access.ts'
import type { Context } from '../../context.ts'
import { paging } from '../../http/paging.ts'
import { pageQuery, queryInteger, queryList, queryText } from '../../http/query.ts'
import { viewerOf } from '../../http/viewer.ts'
import { notFound } from '../../kernel/errors.ts'
import { ActionWorkflowJobsResponse, presentJob } from '../../wire/actions-job.ts'
import { type ActionWorkflowRun, ActionWorkflowRunsResponse, presentRun } from '../../wire/actions-run.ts'
import { presentRepository } from '../../wire/repository.ts'
import { loadUnjudged } from '../repositories/load.ts'
import type { Extent } from './filters.ts'
import { type ListedJob, type ListedRun, listJobs, listRuns } from './lists.ts'

const status = queryList({ description: 'waiting, queued, in_progress, completed, or a conclusion; any of several' })
/** Which log of a job is meant. */
export const logQuery = () =>
  t.Object({ attempt: queryInteger({ description: 'A `run_attempt` of the job; the present one without it' }) })

const runQuery = t.Object({
  event: queryText(),
  branch: queryText(),
  status,
  actor: queryText({ description: 'Who started it' }),
  head_sha: queryText(),
  ...pageQuery,
})
const jobQuery = t.Object({
  status,
  // Wire: whatever else is asked for is passed over.
  sort: queryText({ enum: ['id'] }),
  order: queryText({ enum: ['asc', 'desc'], description: 'asc, unless it is desc' }),
  ...pageQuery,
})

/** What the API description says of each list. A route adds its gate. */
export const described = {
  runs: (operationId: string) => ({
    query: runQuery,
    response: { 200: ActionWorkflowRunsResponse },
    detail: {
      operationId,
      summary: 'List the runs of workflows',
      'x-list': 'links' as const,
      'x-refuses': [400],
    },
  }),
  jobs: (operationId: string, summary = 'List jobs') => ({
    query: jobQuery,
    response: { 200: ActionWorkflowJobsResponse },
    detail: { operationId, summary, 'x-list': 'links' as const, 'x-refuses': [400] },
  }),
}

interface ListRequest<Query> {
  query: Query
  request: Request
  set: { headers: Record<string, string | number | undefined> }
}

/** The lists of runs and of jobs. They are the same at each level: a route says where to look. */
export const runLists = (context: Context) => ({
  async runs(extent: Extent, { query, request, set }: ListRequest<typeof runQuery.static>) {
    const { page, links } = paging(context, query, { request, set })
    const { event, branch, status: statuses, actor, head_sha: headSha } = query
    const found = await listRuns(context, { extent, event, branch, statuses, actor, headSha }, page)
    links(found.total)
    return { workflow_runs: await presentRuns(context, found.rows), total_count: found.total }
  },
  async jobs(extent: Extent & { runId?: number }, { query, request, set }: ListRequest<typeof jobQuery.static>) {
    const { page, links } = paging(context, query, { request, set })
    const { status: statuses, order } = query
    const filter = { extent, runId: extent.runId, statuses, isNewestFirst: order === 'desc' }
    const found = await listJobs(context, filter, page)
    links(found.total)
    return { jobs: found.rows.map((row) => presentListedJob(context, row)), total_count: found.total }
  },
})

export const presentListedJob = ({ baseUrl }: Context, row: ListedJob) =>
  presentJob(row, addressesOf(baseUrl, `${row.repository.ownerName}/${row.repository.name}`))

/** Wire: the repository in a run is as visitors see it. Those of repositories that were deleted meanwhile are left out. */
export async function presentRuns(context: Context, rows: readonly ListedRun[]): Promise<ActionWorkflowRun[]> {
  const viewer = viewerOf(context, undefined)
  const ids = [...new Set(rows.map(({ run }) => run.repositoryId))]
  const shown = ids.length === 0 ? [] : await loadUnjudged(context, undefined, ids)
  const byId = new Map(shown.map((one) => [one.repository.id, presentRepository(one, viewer)]))
  return rows.flatMap((row) => {
    const repository = byId.get(row.run.repositoryId)
    return repository ? [presentRun(row, repository, viewer)] : []
  })
}

export async function presentOne(context: Context, row: ListedRun): Promise<ActionWorkflowRun> {
  const [run] = await presentRuns(context, [row])
  // Deleted between the gate and here.
  if (!run) throw notFound()
  return run
}
