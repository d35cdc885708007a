import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { GitHook, presentGitHook } from '../../wire/git-hook.ts'
import { EditGitHookOption } from './schema.ts'
import { getGitHook, setGitHook } from './service.ts'

const change = { scope: 'repository', level: 'admin', evenArchived: true, gitHooks: true } as const

/** Programs that a push runs on the server, for those who may bring such to it. */
export const gitHookRoutes = (context: Context) =>
  new Elysia({ name: 'git-hooks', prefix: '/repos/:owner/:repo/hooks/git', detail: { tags: ['repository'] } })
    .use(gate(context))
    .get('', async ({ repo }) => (await context.git.listHooks(repo.repository.id)).map(presentGitHook), {
      changeRepo: change,
      response: { 200: t.Array(GitHook) },
      detail: { operationId: 'repoListGitHooks', summary: "A repository's Git hooks" },
    })
    .get('/:id', async ({ repo, params }) => presentGitHook(await getGitHook(context, repo.repository.id, params.id)), {
      changeRepo: change,
      response: { 200: GitHook },
      detail: { operationId: 'repoGetGitHook', summary: 'A Git hook by name' },
    })
    .patch(
      '/:id',
      async ({ actor, repo, params, body }) =>
        presentGitHook(await setGitHook(context, { actor, repo, name: params.id, content: body.content ?? '' })),
      {
        changeRepo: change,
        body: EditGitHookOption,
        response: { 200: GitHook },
        detail: { operationId: 'repoEditGitHook', summary: 'Set a Git hook' },
      },
    )
    .delete(
      '/:id',
      async ({ actor, repo, params, set }) => {
        await setGitHook(context, { actor, repo, name: params.id, content: '' })
        set.status = 204
      },
      {
        changeRepo: change,
        response: { 204: t.Void() },
        detail: { operationId: 'repoDeleteGitHook', summary: 'Remove a Git hook' },
      },
    )
