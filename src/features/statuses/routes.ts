import { Elysia, t } from 'elysia'
import { statusStates } from '../../../db/schema/statuses.ts'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { paging } from '../../http/paging.ts'
import { pageQuery, queryText } from '../../http/query.ts'
import { viewerOf } from '../../http/viewer.ts'
import { CombinedStatus, CommitStatus, combineStates, presentStatus } from '../../wire/commit-status.ts'
import { presentRepository } from '../../wire/repository.ts'
import { withRelatives } from '../repositories/load.ts'
import { CreateStatusOption } from './schema.ts'
import { createStatus, requireCommit } from './service.ts'
import { listStatuses, loadLatest } from './store.ts'

const read = { unit: 'repo.code', scope: 'repository' } as const
const sorts = ['oldest', 'recentupdate', 'leastupdate', 'leastindex', 'highestindex'] as const
/** Wire: `leastindex` begins with the newest. */
const OLDEST_FIRST: readonly string[] = ['oldest', 'leastupdate', 'highestindex']
const listQuery = t.Object({
  sort: queryText({ enum: sorts }),
  state: queryText({ enum: statusStates, description: 'An unknown one asks for all' }),
  ...pageQuery,
})

/** What programs say about commits. */
export const statusRoutes = (context: Context) =>
  new Elysia({ name: 'statuses', prefix: '/repos/:owner/:repo', detail: { tags: ['repository'] } })
    .use(gate(context))
    .get(
      '/statuses/:sha',
      async ({ actor, repo, params, query, request, set }) => {
        // Wire: of what names no commit nothing was said.
        const sha = (await context.git.findCommit(repo.repository.id, params.sha)) ?? ''
        return list(context, { actor, repo, sha }, { query, request, set })
      },
      {
        readRepo: read,
        query: listQuery,
        response: { 200: t.Array(CommitStatus) },
        detail: { operationId: 'repoListStatuses', summary: 'List the statuses of a commit', 'x-list': 'links' },
      },
    )
    .post(
      '/statuses/:sha',
      async ({ actor, repo, params, body, status }) => {
        const row = await createStatus(context, { actor, repo }, { ref: params.sha, option: body })
        const shown = { status: row, creator: actor.user }
        return status(201, presentStatus(shown, repo.apiUrl, viewerOf(context, actor)))
      },
      {
        // Wire: also while the repository is archived.
        changeRepo: { unit: 'repo.code', level: 'write', scope: 'repository', evenArchived: true },
        body: CreateStatusOption,
        response: { 201: CommitStatus },
        detail: { operationId: 'repoCreateStatus', summary: 'Say something about a commit' },
      },
    )
    .get(
      '/commits/:ref/statuses',
      async ({ actor, repo, params, query, request, set }) => {
        const sha = await requireCommit(context, repo, params.ref)
        return list(context, { actor, repo, sha }, { query, request, set })
      },
      {
        readRepo: read,
        query: listQuery,
        response: { 200: t.Array(CommitStatus) },
        detail: {
          operationId: 'repoListStatusesByRef',
          summary: 'List the statuses of a branch, a tag or a commit',
          'x-list': 'links',
        },
      },
    )
    .get(
      '/commits/:ref/status',
      async ({ actor, repo, params, query, request, set }) => {
        const sha = await requireCommit(context, repo, params.ref)
        const { page, links } = paging(context, query, { request, set })
        const { states, rows, total } = await loadLatest(context.db, { repositoryId: repo.repository.id, sha }, page)
        links(total)
        const viewer = viewerOf(context, actor)
        return {
          state: combineStates(states),
          sha,
          total_count: total,
          statuses: rows.map((row) => presentStatus(row, repo.apiUrl, viewer)),
          repository: presentRepository(await withRelatives(context, actor, repo), viewer),
          commit_url: `${repo.apiUrl}/commits/${sha}`,
          url: `${repo.apiUrl}/commits/${sha}/status`,
        }
      },
      {
        readRepo: read,
        query: t.Object(pageQuery),
        response: { 200: CombinedStatus },
        detail: {
          operationId: 'repoGetCombinedStatusByRef',
          summary: 'What the newest statuses of all contexts come to',
          'x-list': 'links',
        },
      },
    )

interface Asked {
  query: { sort?: string | undefined; state?: string | undefined; page?: unknown; limit?: unknown }
  request: Request
  set: { headers: Record<string, string | number | undefined> }
}

async function list(
  context: Context,
  { actor, repo, sha }: { actor: Actor | undefined; repo: RepositoryAccess; sha: string },
  { query, request, set }: Asked,
): Promise<CommitStatus[]> {
  const { page, links } = paging(context, query, { request, set })
  const state = statusStates.find((known) => known === query.state)
  const isOldestFirst = OLDEST_FIRST.includes(query.sort ?? '')
  const place = { repositoryId: repo.repository.id, sha }
  const { rows, total } = await listStatuses(context.db, place, { state, isOldestFirst, page })
  links(total)
  return rows.map((row) => presentStatus(row, repo.apiUrl, viewerOf(context, actor)))
}
