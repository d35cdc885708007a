import { Elysia, t } from 'elysia'
import type { RepositoryAccess } from '../access/repository-access.ts'
import type { Context } from '../context.ts'
import { gate } from '../http/gate.ts'
import { paging } from '../http/paging.ts'
import { pageQuery } from '../http/query.ts'
import { Hook, presentHook } from '../wire/hook.ts'
import { CreateHookOption, EditHookOption } from './schema.ts'
import { createHook, deleteHook, editHook, getHook, showHook } from './service.ts'
import { listHooks } from './store.ts'

const change = { scope: 'repository', level: 'admin', evenArchived: true } as const
const of = (repo: RepositoryAccess) => ({ repositoryId: repo.repository.id })

export const repositoryHookRoutes = (context: Context) =>
  new Elysia({ name: 'repository-hooks', prefix: '/repos/:owner/:repo/hooks', detail: { tags: ['repository'] } })
    .use(gate(context))
    .get(
      '',
      async ({ repo, query, request, set }) => {
        const { page, links } = paging(context, query, { request, set })
        const found = await listHooks(context.db, of(repo), page)
        links(found.total)
        return found.rows.map((hook) => presentHook(showHook(context, hook)))
      },
      {
        changeRepo: change,
        query: t.Object(pageQuery),
        response: { 200: t.Array(Hook) },
        detail: { operationId: 'repoListHooks', summary: "List a repository's hooks", 'x-list': 'links' },
      },
    )
    .post(
      '',
      async ({ actor, repo, body, status }) =>
        status(201, presentHook(await createHook(context, { actor, parent: of(repo), option: body }))),
      {
        changeRepo: change,
        body: CreateHookOption,
        response: { 201: Hook },
        detail: { operationId: 'repoCreateHook', summary: 'Create a hook', 'x-refuses': [400] },
      },
    )
    .get(
      '/:id',
      async ({ repo, params }) => presentHook(showHook(context, await getHook(context, of(repo), params.id))),
      {
        changeRepo: change,
        response: { 200: Hook },
        detail: { operationId: 'repoGetHook', summary: 'A hook' },
      },
    )
    .patch(
      '/:id',
      async ({ actor, repo, params, body }) =>
        presentHook(await editHook(context, { actor, parent: of(repo), id: params.id, option: body })),
      {
        changeRepo: change,
        body: EditHookOption,
        response: { 200: Hook },
        detail: { operationId: 'repoEditHook', summary: 'Change a hook', 'x-refuses': [400] },
      },
    )
    .delete(
      '/:id',
      async ({ actor, repo, params, set }) => {
        await deleteHook(context, { actor, parent: of(repo), id: params.id })
        set.status = 204
      },
      {
        changeRepo: change,
        response: { 204: t.Void() },
        detail: { operationId: 'repoDeleteHook', summary: 'Delete a hook' },
      },
    )
