import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { paging } from '../../http/paging.ts'
import { pageQuery, queryInteger, queryText } from '../../http/query.ts'
import { viewerOf } from '../../http/viewer.ts'
import { parseId } from '../../kernel/ids.ts'
import { DeployKey, presentDeployKey } from '../../wire/deploy-key.ts'
import { presentRepository } from '../../wire/repository.ts'
import { CreateKeyOption } from '../public-keys/schema.ts'
import { withRelatives } from '../repositories/load.ts'
import { addDeployKey, deleteDeployKey, getDeployKey } from './service.ts'
import { listDeployKeys } from './store.ts'

/** Wire: also while the repository is archived. */
const administer = { level: 'admin', scope: 'repository', evenArchived: true } as const
const listQuery = t.Object({ key_id: queryInteger(), fingerprint: queryText(), ...pageQuery })

/** Keys by which machines read one repository, or push to it, over SSH. */
export const deployKeyRoutes = (context: Context) =>
  new Elysia({ name: 'deploy-keys', prefix: '/repos/:owner/:repo/keys', detail: { tags: ['repository'] } })
    .use(gate(context))
    .get(
      '',
      async ({ actor, repo, query, request, set }) => {
        const { page, total } = paging(context, query, { request, set })
        const filter = { repositoryId: repo.repository.id, keyId: query.key_id, fingerprint: query.fingerprint }
        const found = await listDeployKeys(context.db, filter, page)
        total(found.total)
        const repository = presentRepository(await withRelatives(context, actor, repo), viewerOf(context, actor))
        return found.rows.map((row) => presentDeployKey(row, { apiUrl: repo.apiUrl, repository }))
      },
      {
        changeRepo: administer,
        query: listQuery,
        response: { 200: t.Array(DeployKey) },
        detail: { operationId: 'repoListKeys', summary: "List a repository's deploy keys", 'x-list': 'total' },
      },
    )
    .post(
      '',
      async ({ actor, repo, body, status }) =>
        status(201, presentDeployKey(await addDeployKey(context, { actor, repo }, body), { apiUrl: repo.apiUrl })),
      {
        changeRepo: administer,
        body: CreateKeyOption,
        response: { 201: DeployKey },
        detail: { operationId: 'repoCreateKey', summary: 'Add a deploy key' },
      },
    )
    .get(
      '/:id',
      async ({ actor, repo, params }) => {
        const found = await getDeployKey(context, repo, parseId(params.id))
        const repository = presentRepository(await withRelatives(context, actor, repo), viewerOf(context, actor))
        return presentDeployKey(found, { apiUrl: repo.apiUrl, repository })
      },
      {
        changeRepo: administer,
        response: { 200: DeployKey },
        detail: { operationId: 'repoGetKey', summary: 'A deploy key' },
      },
    )
    .delete(
      '/:id',
      async ({ actor, repo, params, set }) => {
        await deleteDeployKey(context, { actor, repo }, parseId(params.id))
        set.status = 204
      },
      {
        changeRepo: administer,
        response: { 204: t.Void() },
        detail: { operationId: 'repoDeleteKey', summary: 'Delete a deploy key' },
      },
    )
