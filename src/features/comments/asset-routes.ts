import { Elysia, t } from 'elysia'
import { issueUnits } from '../../access/issues.ts'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { parseId } from '../../kernel/ids.ts'
import { Attachment, presentAttachment } from '../../wire/attachment.ts'
import { getFile } from '../attachments/files.ts'
import { EditAttachmentOptions, UploadedFile, uploadDetail, uploadQuery } from '../attachments/schema.ts'
import { addCommentAsset, deleteCommentAsset, renameCommentAsset } from './asset-service.ts'
import { filesOf, getComment } from './service.ts'

/** The comment says which issue it belongs to, and that decides who may read it: see `getComment`. */
const read = { unit: issueUnits, scope: 'issue' } as const
const change = { ...read, level: 'read' } as const
const named = { 'x-parameters': { asset: 'attachment_id' } } as const

/** Files of comments. */
export const commentAssetRoutes = (context: Context) =>
  new Elysia({
    name: 'comment-assets',
    prefix: '/repos/:owner/:repo/issues/comments/:id/assets',
    detail: { tags: ['issue'] },
  })
    .use(gate(context))
    .get(
      '',
      async ({ repo, params }) => {
        const { assets } = await getComment(context, repo, params.id)
        return assets.map((file) => presentAttachment(file, context))
      },
      {
        readRepo: read,
        response: { 200: t.Array(Attachment) },
        detail: { operationId: 'issueListIssueCommentAttachments', summary: "List a comment's files" },
      },
    )
    .post(
      '',
      async ({ actor, repo, params, query, request, status }) => {
        const upload = { comment: params.id, request, name: query.name }
        const made = await addCommentAsset(context, { actor, repo }, upload)
        return status(201, presentAttachment(made, context))
      },
      {
        changeRepo: change,
        query: uploadQuery,
        body: UploadedFile,
        response: { 201: Attachment },
        detail: {
          operationId: 'issueCreateIssueCommentAttachment',
          summary: 'Add a file to a comment: as a form, or as the body with its name in the query',
          ...uploadDetail,
        },
      },
    )
    .get(
      '/:asset',
      async ({ repo, params }) => {
        const { comment } = await getComment(context, repo, params.id)
        return presentAttachment(await getFile(context, filesOf(repo, comment), parseId(params.asset)), context)
      },
      {
        readRepo: read,
        response: { 200: Attachment },
        detail: { operationId: 'issueGetIssueCommentAttachment', summary: 'A file of a comment', ...named },
      },
    )
    .patch(
      '/:asset',
      async ({ actor, repo, params, body, status }) => {
        const renaming = { comment: params.id, asset: parseId(params.asset), ...body }
        return status(201, presentAttachment(await renameCommentAsset(context, { actor, repo }, renaming), context))
      },
      {
        changeRepo: change,
        body: EditAttachmentOptions,
        // Wire: 201, though nothing is made.
        response: { 201: Attachment },
        detail: { operationId: 'issueEditIssueCommentAttachment', summary: 'Rename a file of a comment', ...named },
      },
    )
    .delete(
      '/:asset',
      async ({ actor, repo, params, set }) => {
        await deleteCommentAsset(context, { actor, repo }, { comment: params.id, asset: parseId(params.asset) })
        set.status = 204
      },
      {
        changeRepo: change,
        response: { 204: t.Void() },
        detail: { operationId: 'issueDeleteIssueCommentAttachment', summary: 'Delete a file of a comment', ...named },
      },
    )
