import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { FileBody } from '../../http/download.ts'
import { gate } from '../../http/gate.ts'
import { paging } from '../../http/paging.ts'
import { pageQuery, queryText } from '../../http/query.ts'
import { notFound } from '../../kernel/errors.ts'
import { parseId } from '../../kernel/ids.ts'
import { ActionArtifact, ActionArtifactsResponse } from '../../wire/actions-artifact.ts'
import { getRun } from '../actions-runs/service.ts'
import { deleteArtifact, getArtifact, getUnexpired } from './access.ts'
import { isOf, listShown } from './lists.ts'
import { presentArtifacts, presentOneArtifact } from './present.ts'
import { sendArtifact } from './serve.ts'
import { requireSignature, signedQuery } from './signed-address.ts'

const read = { unit: 'repo.actions', scope: 'repository' } as const
const query = t.Object({ name: queryText({ description: 'Only artifacts of this name' }), ...pageQuery })
/** Wire: these lists say their total in the body only. */
const list = (operationId: string, summary: string) => ({
  query,
  response: { 200: ActionArtifactsResponse },
  detail: { operationId, summary },
})

/** Artifacts of runs. What sends them is the protocol of jobs (protocol-routes.ts). */
export const artifactRoutes = (context: Context) =>
  new Elysia({ name: 'artifacts', prefix: '/repos/:owner/:repo/actions', detail: { tags: ['repository'] } })
    .use(gate(context))
    .get(
      '/artifacts',
      async ({ repo, query, request, set }) => {
        const { page } = paging(context, query, { request, set })
        const filter = { repositoryId: repo.repository.id, name: query.name }
        const { rows, total } = await listShown(context.db, filter, page)
        return { artifacts: await presentArtifacts(context, rows), total_count: total }
      },
      { readRepo: read, ...list('getArtifacts', 'List the artifacts of a repository') },
    )
    .get(
      '/runs/:run/artifacts',
      async ({ repo, params, query, request, set }) => {
        const { run } = await getRun(context, repo, params.run)
        const { page } = paging(context, query, { request, set })
        const filter = { repositoryId: repo.repository.id, runId: run.id, name: query.name }
        const { rows, total } = await listShown(context.db, filter, page)
        return { artifacts: await presentArtifacts(context, rows), total_count: total }
      },
      { readRepo: read, ...list('getArtifactsOfRun', 'List the artifacts of a run, of all its attempts') },
    )
    .get(
      '/artifacts/:artifact_id',
      async ({ repo, params }) => presentOneArtifact(context, await getArtifact(context, repo, params.artifact_id)),
      {
        readRepo: read,
        response: { 200: ActionArtifact },
        detail: { operationId: 'getArtifact', summary: 'An artifact' },
      },
    )
    .delete(
      '/artifacts/:artifact_id',
      async ({ actor, repo, params, set }) => {
        await deleteArtifact(context, { actor, repo }, params.artifact_id)
        set.status = 204
      },
      {
        changeRepo: { unit: 'repo.actions', level: 'write', scope: 'repository' },
        response: { 204: t.Void() },
        detail: { operationId: 'deleteArtifact', summary: 'Delete an artifact' },
      },
    )
    .get(
      '/artifacts/:artifact_id/zip',
      async ({ repo, params }) => {
        const { id } = await getUnexpired(context, repo, params.artifact_id)
        const location = `${repo.apiUrl}/actions/artifacts/${id}/zip/raw?${signedQuery(context, 'download', id)}`
        return new Response(null, { status: 302, headers: { location } })
      },
      {
        readRepo: read,
        response: { 302: t.Void() },
        detail: {
          operationId: 'downloadArtifact',
          summary:
            'Leads to the archive of an artifact, at an address that needs no token and works for a quarter of an hour',
        },
      },
    )
    .get(
      '/artifacts/:artifact_id/zip/raw',
      async ({ params, request }) => {
        const id = parseId(params.artifact_id) ?? 0
        requireSignature(context, { purpose: 'download', artifactId: id }, new URL(request.url).searchParams)
        if (!(await isOf(context.db, id, params))) throw notFound('artifact not found')
        return sendArtifact(context, request, id)
      },
      // The signature is the credential. Wire: not in the description of the Gitea API.
      { open: { beforeSignIn: true }, response: { 200: FileBody, 206: FileBody }, detail: { hide: true } },
    )
