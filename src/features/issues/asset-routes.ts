import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { parseId } from '../../kernel/ids.ts'
import { Attachment, presentAttachment } from '../../wire/attachment.ts'
import { getFile } from '../attachments/files.ts'
import { EditAttachmentOptions, UploadedFile, uploadDetail, uploadQuery } from '../attachments/schema.ts'
import { listAttachments } from '../attachments/store.ts'
import { addIssueAsset, deleteIssueAsset, filesOf, renameIssueAsset } from './asset-service.ts'

const scope = 'issue'
const change = { scope, level: 'read' } as const
const named = { 'x-parameters': { asset: 'attachment_id' } } as const

/** Files of issues. */
export const issueAssetRoutes = (context: Context) =>
  new Elysia({ name: 'issue-assets', prefix: '/repos/:owner/:repo/issues/:index/assets', detail: { tags: ['issue'] } })
    .use(gate(context))
    .get(
      '',
      async ({ repo, issue: { issue } }) => {
        const files = await listAttachments(context.db, filesOf(repo, issue))
        return files.map((file) => presentAttachment(file, context))
      },
      {
        readIssue: { scope },
        response: { 200: t.Array(Attachment) },
        detail: { operationId: 'issueListIssueAttachments', summary: "List an issue's files" },
      },
    )
    .post(
      '',
      async ({ actor, repo, issue: { issue }, query, request, status }) => {
        const made = await addIssueAsset(context, { actor, repo }, { issue, request, name: query.name })
        return status(201, presentAttachment(made, context))
      },
      {
        changeIssue: change,
        query: uploadQuery,
        body: UploadedFile,
        response: { 201: Attachment },
        detail: {
          operationId: 'issueCreateIssueAttachment',
          summary: 'Add a file to an issue: as a form, or as the body with its name in the query',
          ...uploadDetail,
        },
      },
    )
    .get(
      '/:asset',
      async ({ repo, issue: { issue }, params }) =>
        presentAttachment(await getFile(context, filesOf(repo, issue), parseId(params.asset)), context),
      {
        readIssue: { scope },
        response: { 200: Attachment },
        detail: { operationId: 'issueGetIssueAttachment', summary: 'A file of an issue', ...named },
      },
    )
    .patch(
      '/:asset',
      async ({ actor, repo, issue: { issue }, params, body, status }) => {
        const renaming = { issue, asset: parseId(params.asset), ...body }
        return status(201, presentAttachment(await renameIssueAsset(context, { actor, repo }, renaming), context))
      },
      {
        changeIssue: change,
        body: EditAttachmentOptions,
        // Wire: 201, though nothing is made.
        response: { 201: Attachment },
        detail: { operationId: 'issueEditIssueAttachment', summary: 'Rename a file of an issue', ...named },
      },
    )
    .delete(
      '/:asset',
      async ({ actor, repo, issue: { issue }, params, set }) => {
        await deleteIssueAsset(context, { actor, repo }, { issue, asset: parseId(params.asset) })
        set.status = 204
      },
      {
        changeIssue: change,
        response: { 204: t.Void() },
        detail: { operationId: 'issueDeleteIssueAttachment', summary: 'Delete a file of an issue', ...named },
      },
    )
