import { Elysia } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { described, runnerOperations } from './shared-routes.ts'
import { repositoryScope } from './store.ts'

/** Wire: for its owners alone, also while the repository is archived or has no actions. */
const administer = { level: 'owner', scope: 'repository', evenArchived: true } as const

/** Runners of one repository. */
export const repositoryRunnerRoutes = (context: Context) => {
  const runners = runnerOperations(context)
  return new Elysia({
    name: 'repository-runners',
    prefix: '/repos/:owner/:repo/actions/runners',
    detail: { tags: ['repository'] },
  })
    .use(gate(context))
    .get(
      '',
      ({ repo, query, request, set }) => runners.list(repositoryScope(repo.repository.id), { query, request, set }),
      { changeRepo: administer, ...described.list('getRepoRunners') },
    )
    .post('/registration-token', ({ repo }) => runners.registrationToken(repositoryScope(repo.repository.id)), {
      changeRepo: administer,
      ...described.registrationToken('repoCreateRunnerRegistrationToken'),
    })
    .get(
      '/:runner_id',
      ({ repo, params }) => runners.get({ scope: repositoryScope(repo.repository.id), id: params.runner_id }),
      { changeRepo: administer, ...described.get('getRepoRunner') },
    )
    .patch(
      '/:runner_id',
      ({ actor, repo, params, body }) =>
        runners.edit({ actor, path: { scope: repositoryScope(repo.repository.id), id: params.runner_id } }, body),
      { changeRepo: administer, ...described.edit('updateRepoRunner') },
    )
    .delete(
      '/:runner_id',
      ({ actor, repo, params, set }) =>
        runners.delete({ actor, path: { scope: repositoryScope(repo.repository.id), id: params.runner_id } }, set),
      { changeRepo: administer, ...described.delete('deleteRepoRunner') },
    )
}
