import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { viewerOf } from '../../http/viewer.ts'
import { notFound } from '../../kernel/errors.ts'
import { parseId } from '../../kernel/ids.ts'
import { presentRepository, Repository } from '../../wire/repository.ts'
import { editRepository } from './edit.ts'
import { listLanguages } from './languages.ts'
import { getShownRepository, withRelatives } from './load.ts'
import { deleteRepository } from './remove.ts'
import { EditRepoOption, LanguageStatistics } from './schema.ts'

/** One repository: read, change, delete. */
export const repositoryRoutes = (context: Context) =>
  new Elysia({ name: 'repositories', detail: { tags: ['repository'] } })
    .use(gate(context))
    .get(
      '/repos/:owner/:repo',
      async ({ actor, repo }) => presentRepository(await withRelatives(context, actor, repo), viewerOf(context, actor)),
      {
        readRepo: { scope: 'repository' },
        response: { 200: Repository },
        detail: { operationId: 'repoGet', summary: 'A repository by its name' },
      },
    )
    .get(
      '/repositories/:id',
      async ({ actor, params }) => {
        const id = parseId(params.id)
        if (id === undefined) throw notFound()
        return presentRepository(await getShownRepository(context, actor, id), viewerOf(context, actor))
      },
      {
        login: { scope: 'repository' },
        params: t.Object({ id: t.String() }),
        response: { 200: Repository },
        detail: { operationId: 'repoGetByID', summary: 'A repository by its id' },
      },
    )
    .patch(
      '/repos/:owner/:repo',
      async ({ actor, repo, body }) => {
        await editRepository(context, actor, { repository: repo.repository, owner: repo.owner, change: body })
        return presentRepository(await getShownRepository(context, actor, repo.repository.id), viewerOf(context, actor))
      },
      {
        changeRepo: { level: 'admin', scope: 'repository', evenArchived: true },
        body: EditRepoOption,
        response: { 200: Repository },
        detail: { operationId: 'repoEdit', summary: 'Change a repository; only what is given changes' },
      },
    )
    .delete(
      '/repos/:owner/:repo',
      async ({ actor, repo, set }) => {
        await deleteRepository(context, actor, repo)
        set.status = 204
      },
      {
        changeRepo: { level: 'owner', scope: 'repository', evenArchived: true },
        response: { 204: t.Void() },
        detail: { operationId: 'repoDelete', summary: 'Delete a repository' },
      },
    )
    .get('/repos/:owner/:repo/languages', async ({ repo }) => listLanguages(context.db, repo.repository.id), {
      readRepo: { unit: 'repo.code', scope: 'repository' },
      response: { 200: LanguageStatistics },
      detail: { operationId: 'repoGetLanguages', summary: 'Bytes of each language on the default branch' },
    })
    .get('/repos/:owner/:repo/licenses', ({ repo }) => repo.repository.licenses, {
      readRepo: { unit: 'repo.code', scope: 'repository' },
      response: { 200: t.Array(t.String()) },
      detail: { operationId: 'repoGetLicenses', summary: 'Licenses on the default branch, as SPDX names them' },
    })
