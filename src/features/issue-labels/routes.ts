import { Elysia, t } from 'elysia'
import type { LabelRow } from '../../../db/schema/issues.ts'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { Label, presentIssueLabel } from '../../wire/label.ts'
import { IssueLabelsOption } from './schema.ts'
import { addIssueLabels, clearIssueLabels, removeIssueLabel, replaceIssueLabels } from './service.ts'
import { listIssueLabels } from './store.ts'

const read = { scope: 'issue' } as const
const write = { scope: 'issue', level: 'write' } as const

export const issueLabelRoutes = (context: Context) => {
  const present = (labels: readonly LabelRow[], { apiUrl, owner }: RepositoryAccess) =>
    labels.map((label) => presentIssueLabel(label, { apiUrl, ownerName: owner.name }, context))
  return new Elysia({
    name: 'issueLabels',
    prefix: '/repos/:owner/:repo/issues/:index/labels',
    detail: { tags: ['issue'] },
  })
    .use(gate(context))
    .get('', async ({ repo, issue: { issue } }) => present(await listIssueLabels(context.db, issue.id), repo), {
      readIssue: read,
      response: { 200: t.Array(Label) },
      detail: { operationId: 'issueGetLabels', summary: 'The labels of an issue' },
    })
    .post(
      '',
      async ({ actor, repo, issue: { issue }, body }) =>
        present(await addIssueLabels(context, { actor, repo, issue }, body), repo),
      {
        changeIssue: write,
        body: IssueLabelsOption,
        response: { 200: t.Array(Label) },
        detail: {
          operationId: 'issueAddLabel',
          summary: 'Add labels to an issue. An exclusive one replaces the other of its scope',
          'x-refuses': [400],
        },
      },
    )
    .put(
      '',
      async ({ actor, repo, issue: { issue }, body }) =>
        present(await replaceIssueLabels(context, { actor, repo, issue }, body), repo),
      {
        changeIssue: write,
        body: IssueLabelsOption,
        response: { 200: t.Array(Label) },
        detail: {
          operationId: 'issueReplaceLabels',
          summary: "Replace an issue's labels",
          'x-refuses': [400],
        },
      },
    )
    .delete(
      '',
      async ({ actor, repo, issue: { issue }, set }) => {
        await clearIssueLabels(context, { actor, repo, issue })
        set.status = 204
      },
      {
        changeIssue: write,
        response: { 204: t.Void() },
        detail: { operationId: 'issueClearLabels', summary: 'Take all labels off an issue' },
      },
    )
    .delete(
      '/:id',
      async ({ actor, repo, issue: { issue }, params, set }) => {
        await removeIssueLabel(context, { actor, repo, issue }, params.id)
        set.status = 204
      },
      {
        changeIssue: write,
        response: { 204: t.Void() },
        detail: { operationId: 'issueRemoveLabel', summary: 'Take a label off an issue', 'x-refuses': [422] },
      },
    )
}
