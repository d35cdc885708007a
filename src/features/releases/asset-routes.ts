import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { decodeWildcard } from '../../http/wildcard.ts'
import { parseId } from '../../kernel/ids.ts'
import { Attachment, presentAttachment } from '../../wire/attachment.ts'
import { noFile } from '../attachments/no-file.ts'
import { EditAttachmentOptions, UploadedFile, uploadDetail, uploadQuery } from '../attachments/schema.ts'
import { serveAttachment } from '../attachments/serve.ts'
import { addAsset, deleteAsset, findAssetByName, getAsset, renameAsset } from './asset-service.ts'
import { getRelease } from './service.ts'

const read = { unit: 'repo.releases', scope: 'repository' } as const
const write = { unit: 'repo.releases', level: 'write', scope: 'repository' } as const
const named = { 'x-parameters': { asset: 'attachment_id' } } as const

/** Files of releases. */
export const releaseAssetRoutes = (context: Context) =>
  new Elysia({
    name: 'release-assets',
    prefix: '/repos/:owner/:repo/releases/:id/assets',
    detail: { tags: ['repository'] },
  })
    .use(gate(context))
    .get(
      '',
      async ({ repo, params }) => {
        const { assets } = await getRelease(context, repo, { id: parseId(params.id) })
        return assets.map((asset) => presentAttachment(asset, context))
      },
      {
        readRepo: read,
        response: { 200: t.Array(Attachment) },
        detail: { operationId: 'repoListReleaseAttachments', summary: "List a release's files" },
      },
    )
    .post(
      '',
      async ({ actor, repo, params, query, request, status }) => {
        const upload = { release: parseId(params.id), request, name: query.name }
        return status(201, presentAttachment(await addAsset(context, { actor, repo }, upload), context))
      },
      {
        changeRepo: write,
        query: uploadQuery,
        body: UploadedFile,
        response: { 201: Attachment },
        detail: {
          operationId: 'repoCreateReleaseAttachment',
          summary: 'Add a file to a release: as a form, or as the body with its name in the query',
          ...uploadDetail,
        },
      },
    )
    .get(
      '/:asset',
      async ({ repo, params }) => presentAttachment(await getAsset(context, repo, pathOf(params)), context),
      {
        readRepo: read,
        response: { 200: Attachment },
        detail: { operationId: 'repoGetReleaseAttachment', summary: 'A file of a release', ...named },
      },
    )
    .patch(
      '/:asset',
      async ({ repo, params, body, status }) =>
        status(201, presentAttachment(await renameAsset(context, repo, { ...pathOf(params), ...body }), context)),
      {
        changeRepo: write,
        body: EditAttachmentOptions,
        // Wire: 201, though nothing is made.
        response: { 201: Attachment },
        detail: { operationId: 'repoEditReleaseAttachment', summary: 'Rename a file of a release', ...named },
      },
    )
    .delete(
      '/:asset',
      async ({ repo, params, set }) => {
        await deleteAsset(context, repo, pathOf(params))
        set.status = 204
      },
      {
        changeRepo: write,
        response: { 204: t.Void() },
        detail: { operationId: 'repoDeleteReleaseAttachment', summary: 'Delete a file of a release', ...named },
      },
    )

const pathOf = ({ id, asset }: { id: string; asset: string }) => ({ release: parseId(id), asset: parseId(asset) })

/** The address of a file by its tag and name: `/owner/name/releases/download/v1.0/tool.zip`. A tag may have slashes. */
export const releaseDownloadPages = (context: Context) =>
  new Elysia({ name: 'release-download-pages', prefix: '/:owner/:repo', detail: { hide: true } })
    .use(gate(context))
    .get(
      '/releases/download/*',
      async ({ repo, params, request }) => {
        const path = decodeWildcard(params)
        const at = path.lastIndexOf('/')
        const asset = await findAssetByName(context, repo, { tagName: path.slice(0, at), name: path.slice(at + 1) })
        if (!asset) throw noFile()
        return serveAttachment(context, request, asset)
      },
      { readRepo: read },
    )
