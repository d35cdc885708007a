import { Elysia, t } from 'elysia'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { Unchanged, unchangedAnswer } from '../../http/answers.ts'
import { gate } from '../../http/gate.ts'
import { paging } from '../../http/paging.ts'
import { pageQuery, queryBoolean } from '../../http/query.ts'
import { viewerOf } from '../../http/viewer.ts'
import { decodeWildcard } from '../../http/wildcard.ts'
import { parseId } from '../../kernel/ids.ts'
import { presentRelease, Release } from '../../wire/release.ts'
import { CreateReleaseOption, EditReleaseOption } from './schema.ts'
import { createRelease, deleteRelease, editRelease, getRelease, seesDrafts } from './service.ts'
import { type LoadedRelease, listReleases } from './store.ts'

const read = { unit: 'repo.releases', scope: 'repository' } as const
const write = { unit: 'repo.releases', level: 'write', scope: 'repository' } as const
const named = { 'x-parameters': { '*': 'tag' } } as const
const listQuery = t.Object({ draft: queryBoolean(), 'pre-release': queryBoolean(), ...pageQuery })

export const releaseRoutes = (context: Context) =>
  new Elysia({ name: 'releases', prefix: '/repos/:owner/:repo/releases', detail: { tags: ['repository'] } })
    .use(gate(context))
    .get(
      '',
      async ({ actor, repo, query, request, set }) => {
        const { page, links } = paging(context, query, { request, set })
        const isDraft = seesDrafts(repo) ? query.draft : false
        const isPrerelease = query['pre-release']
        // Drafts that the reader does not see are none.
        const filter = { repositoryId: repo.repository.id, isDraft, isPrerelease }
        const isNone = query.draft === true && isDraft === false
        const found = isNone ? { rows: [], total: 0 } : await listReleases(context.db, filter, page)
        links(found.total)
        const versions = found.rows.map(({ version }) => version)
        const unchanged = unchangedAnswer(context, { actor, request, set }, [repo.version, found.total, ...versions])
        return unchanged ?? found.rows.map((row) => present(context, { actor, repo, row }))
      },
      {
        readRepo: read,
        query: listQuery,
        response: { 200: t.Array(Release), 304: Unchanged },
        detail: { operationId: 'repoListReleases', summary: "List a repository's releases", 'x-list': 'links' },
      },
    )
    .post(
      '',
      async ({ actor, repo, body, status }) =>
        status(201, present(context, { actor, repo, row: await createRelease(context, { actor, repo }, body) })),
      {
        changeRepo: write,
        body: CreateReleaseOption,
        response: { 201: Release },
        detail: { operationId: 'repoCreateRelease', summary: 'Create a release', 'x-refuses': [409] },
      },
    )
    .get(
      '/latest',
      async ({ actor, repo, request, set }) => {
        const row = await getRelease(context, repo, { isPrerelease: false })
        const unchanged = unchangedAnswer(context, { actor, request, set }, [repo.version, row.version])
        return unchanged ?? present(context, { actor, repo, row })
      },
      {
        readRepo: read,
        response: { 200: Release, 304: Unchanged },
        detail: { operationId: 'repoGetLatestRelease', summary: 'The newest release that is no preview' },
      },
    )
    .get(
      '/tags/*',
      async ({ actor, repo, params, request, set }) => {
        const row = await getRelease(context, repo, { tagName: decodeWildcard(params) })
        const unchanged = unchangedAnswer(context, { actor, request, set }, [repo.version, row.version])
        return unchanged ?? present(context, { actor, repo, row })
      },
      {
        readRepo: read,
        response: { 200: Release, 304: Unchanged },
        detail: { operationId: 'repoGetReleaseByTag', summary: 'The release of a tag', ...named },
      },
    )
    .delete(
      '/tags/*',
      async ({ actor, repo, params, set }) => {
        await deleteRelease(context, { actor, repo }, { tagName: decodeWildcard(params) })
        set.status = 204
      },
      {
        changeRepo: write,
        response: { 204: t.Void() },
        detail: { operationId: 'repoDeleteReleaseByTag', summary: 'Delete the release of a tag', ...named },
      },
    )
    .get(
      '/:id',
      async ({ actor, repo, params, request, set }) => {
        const row = await getRelease(context, repo, { id: parseId(params.id) })
        const unchanged = unchangedAnswer(context, { actor, request, set }, [repo.version, row.version])
        return unchanged ?? present(context, { actor, repo, row })
      },
      {
        readRepo: read,
        response: { 200: Release, 304: Unchanged },
        detail: { operationId: 'repoGetRelease', summary: 'A release' },
      },
    )
    .patch(
      '/:id',
      async ({ actor, repo, params, body }) => {
        const row = await editRelease(context, { actor, repo }, { id: parseId(params.id), option: body })
        return present(context, { actor, repo, row })
      },
      {
        changeRepo: write,
        body: EditReleaseOption,
        response: { 200: Release },
        detail: { operationId: 'repoEditRelease', summary: 'Change a release', 'x-refuses': [409] },
      },
    )
    .delete(
      '/:id',
      async ({ actor, repo, params, set }) => {
        await deleteRelease(context, { actor, repo }, { id: parseId(params.id) })
        set.status = 204
      },
      {
        changeRepo: write,
        response: { 204: t.Void() },
        detail: { operationId: 'repoDeleteRelease', summary: 'Delete a release; its tag stays' },
      },
    )

const present = (
  context: Context,
  { actor, repo, row }: { actor: Actor | undefined; repo: RepositoryAccess; row: LoadedRelease },
): Release => presentRelease(row, repo, viewerOf(context, actor))
