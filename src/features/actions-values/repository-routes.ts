import { Elysia } from 'elysia'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { described, valueOperations } from './shared-routes.ts'

/** Wire: for its owners alone; also while the repository is archived. */
const administer = { level: 'owner', scope: 'repository', evenArchived: true } as const
const of = ({ repository }: RepositoryAccess) => ({ repositoryId: repository.id })

/** What jobs of one repository read. */
export const repositoryActionsValueRoutes = (context: Context) => {
  const values = valueOperations(context)
  return new Elysia({
    name: 'repository-actions-values',
    prefix: '/repos/:owner/:repo/actions',
    detail: { tags: ['repository'] },
  })
    .use(gate(context))
    .get('/secrets', ({ repo, query, request, set }) => values.listSecrets(of(repo), { query, request, set }), {
      changeRepo: administer,
      ...described.listSecrets('repoListActionsSecrets'),
    })
    .put(
      '/secrets/:secretname',
      ({ actor, repo, params, body, set }) => values.putSecret(of(repo), { actor, name: params.secretname, body, set }),
      { changeRepo: administer, ...described.putSecret('updateRepoSecret') },
    )
    .delete(
      '/secrets/:secretname',
      ({ actor, repo, params, set }) => values.deleteSecret(of(repo), { actor, name: params.secretname, set }),
      { changeRepo: administer, ...described.deleteSecret('deleteRepoSecret') },
    )
    .get('/variables', ({ repo, query, request, set }) => values.listVariables(of(repo), { query, request, set }), {
      changeRepo: administer,
      ...described.listVariables('getRepoVariablesList'),
    })
    .get('/variables/:variablename', ({ repo, params }) => values.getVariable(of(repo), params.variablename), {
      changeRepo: administer,
      ...described.getVariable('getRepoVariable'),
    })
    .post(
      '/variables/:variablename',
      ({ actor, repo, params, body, set }) =>
        values.createVariable(of(repo), { actor, name: params.variablename, body, set }),
      { changeRepo: administer, ...described.createVariable('createRepoVariable') },
    )
    .put(
      '/variables/:variablename',
      ({ actor, repo, params, body, set }) =>
        values.editVariable(of(repo), { actor, name: params.variablename, body, set }),
      { changeRepo: administer, ...described.editVariable('updateRepoVariable') },
    )
    .delete(
      '/variables/:variablename',
      ({ actor, repo, params, set }) => values.deleteVariable(of(repo), { actor, name: params.variablename, set }),
      { changeRepo: administer, ...described.deleteVariable('deleteRepoVariable') },
    )
}
