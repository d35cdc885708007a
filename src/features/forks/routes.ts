import { Elysia, t } from 'elysia'
import type { UserRow } from '../../../db/schema/users.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { organizationFor } from '../../http/organization-gate.ts'
import { paging } from '../../http/paging.ts'
import { cursorQuery } from '../../http/query.ts'
import { viewerOf } from '../../http/viewer.ts'
import { presentRepository, Repository } from '../../wire/repository.ts'
import { getShownRepository } from '../repositories/load.ts'
import { listRepositories } from '../repository-search/list.ts'
import { mergeUpstream } from './merge-upstream.ts'
import { CreateForkOption, MergeUpstreamRequest, MergeUpstreamResponse } from './schema.ts'
import { createFork } from './service.ts'

export const forkRoutes = (context: Context) =>
  new Elysia({ name: 'forks', prefix: '/repos/:owner/:repo', detail: { tags: ['repository'] } })
    .use(gate(context))
    .get(
      '/forks',
      async ({ actor, repo, query, request, set }) => {
        const { page, links } = paging(context, query, { request, set })
        const wanted = { filter: { parentId: repo.repository.id }, order: { by: 'id' as const }, page }
        const found = await listRepositories(context, actor, wanted)
        links(found.total, found.next)
        return found.rows.map((row) => presentRepository(row, viewerOf(context, actor)))
      },
      {
        readRepo: { unit: 'repo.code', scope: 'repository' },
        query: t.Object(cursorQuery),
        response: { 200: t.Array(Repository) },
        detail: { operationId: 'listForks', summary: "List a repository's forks", 'x-list': 'links' },
      },
    )
    .post(
      '/forks',
      async ({ actor, repo, body, request, status }) => {
        const owner = await forkOwner(context, actor, { request, name: body.organization })
        const id = await createFork(context, { actor, source: repo, owner, option: body })
        // Wire: Gitea forks in the background; here it is done when this is answered.
        return status(202, presentRepository(await getShownRepository(context, actor, id), viewerOf(context, actor)))
      },
      {
        changeRepo: { unit: 'repo.code', level: 'read', scope: 'repository', evenArchived: true },
        body: CreateForkOption,
        response: { 202: Repository },
        detail: { operationId: 'createFork', summary: 'Fork a repository', 'x-refuses': [409] },
      },
    )
    .post(
      '/merge-upstream',
      async ({ actor, repo, body }) => ({
        merge_type: await mergeUpstream(context, { actor, repo, option: body }),
      }),
      {
        changeRepo: { unit: 'repo.code', level: 'write', scope: 'repository' },
        body: MergeUpstreamRequest,
        response: { 200: MergeUpstreamResponse },
        detail: {
          operationId: 'repoMergeUpstream',
          summary: "Bring a branch of a fork up to its parent's",
          'x-refuses': [400, 409],
        },
      },
    )

async function forkOwner(
  context: Context,
  actor: Actor,
  { request, name }: { request: Request; name: string | undefined },
): Promise<UserRow> {
  if (name === undefined) return actor.user
  const organization = await organizationFor(context, actor, { request, name }, { role: 'creator', isTerse: true })
  return organization.row
}
