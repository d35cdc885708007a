import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { paging } from '../../http/paging.ts'
import { pageQuery, queryBoolean } from '../../http/query.ts'
import { ActionRunner, ActionRunnersResponse, presentRunner } from '../../wire/actions-runner.ts'
import { EditActionRunnerOption, RegistrationToken } from './schema.ts'
import { deleteRunner, editRunner, getRunner, registrationTokenOf, showRunner } from './service.ts'
import { listRunners, repositoryScope } from './store.ts'

const listQuery = t.Object({ disabled: queryBoolean(), ...pageQuery })
/** Wire: for its owners alone, also while the repository is archived or has no actions. */
const administer = { level: 'owner', scope: 'repository', evenArchived: true } as const

/** Runners of one repository. */
export const repositoryRunnerRoutes = (context: Context) =>
  new Elysia({
    name: 'repository-runners',
    prefix: '/repos/:owner/:repo/actions/runners',
    detail: { tags: ['repository'] },
  })
    .use(gate(context))
    .get(
      '',
      async ({ repo, query, request, set }) => {
        const { page } = paging(context, query, { request, set })
        const found = await listRunners(
          context.db,
          { scope: repositoryScope(repo.repository.id), isDisabled: query.disabled },
          page,
        )
        return { runners: found.rows.map((row) => presentRunner(showRunner(context, row))), total_count: found.total }
      },
      {
        changeRepo: administer,
        query: listQuery,
        response: { 200: ActionRunnersResponse },
        detail: { operationId: 'getRepoRunners', summary: "List a repository's runners" },
      },
    )
    .post(
      '/registration-token',
      async ({ repo }) => ({ token: await registrationTokenOf(context, repositoryScope(repo.repository.id)) }),
      {
        changeRepo: administer,
        response: { 200: RegistrationToken },
        detail: { operationId: 'repoCreateRunnerRegistrationToken', summary: 'The token that makes machines runners' },
      },
    )
    .get(
      '/:runner_id',
      async ({ repo, params }) =>
        presentRunner(
          showRunner(
            context,
            await getRunner(context, { scope: repositoryScope(repo.repository.id), id: params.runner_id }),
          ),
        ),
      {
        changeRepo: administer,
        response: { 200: ActionRunner },
        detail: { operationId: 'getRepoRunner', summary: 'A runner' },
      },
    )
    .patch(
      '/:runner_id',
      async ({ actor, repo, params, body }) => {
        const path = { scope: repositoryScope(repo.repository.id), id: params.runner_id }
        return presentRunner(showRunner(context, await editRunner(context, { actor, path }, body)))
      },
      {
        changeRepo: administer,
        body: EditActionRunnerOption,
        response: { 200: ActionRunner },
        detail: { operationId: 'updateRepoRunner', summary: 'Switch a runner off or on' },
      },
    )
    .delete(
      '/:runner_id',
      async ({ actor, repo, params, set }) => {
        await deleteRunner(context, {
          actor,
          path: { scope: repositoryScope(repo.repository.id), id: params.runner_id },
        })
        set.status = 204
      },
      {
        changeRepo: administer,
        response: { 204: t.Void() },
        detail: { operationId: 'deleteRepoRunner', summary: 'Delete a runner' },
      },
    )
