import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { paging } from '../../http/paging.ts'
import { pageQuery } from '../../http/query.ts'
import { parseId } from '../../kernel/ids.ts'
import { Label, presentLabel } from '../../wire/label.ts'
import { CreateLabelOption, EditLabelOption } from './schema.ts'
import { createLabel, deleteLabel, editLabel, getLabel } from './service.ts'
import { listLabels } from './store.ts'

/** They belong to issues and to pull requests: who may read neither does not see them. */
const unit = ['repo.issues', 'repo.pulls'] as const
const read = { unit, scope: 'issue' } as const
const write = { level: 'write', unit, scope: 'issue' } as const

export const labelRoutes = (context: Context) =>
  new Elysia({ name: 'labels', prefix: '/repos/:owner/:repo/labels', detail: { tags: ['issue'] } })
    .use(gate(context))
    .get(
      '',
      async ({ repo, query, request, set }) => {
        const { page, total } = paging(context, query, { request, set })
        const labels = await listLabels(context.db, { repositoryId: repo.repository.id }, page)
        total(labels.total)
        return labels.rows.map((row) => presentLabel(row, repo.apiUrl))
      },
      {
        readRepo: read,
        query: t.Object(pageQuery),
        response: { 200: t.Array(Label) },
        detail: { operationId: 'issueListLabels', summary: "List a repository's labels", 'x-list': 'total' },
      },
    )
    .post(
      '',
      async ({ repo, body, status }) => {
        const row = await createLabel(context, { repositoryId: repo.repository.id }, body)
        return status(201, presentLabel(row, repo.apiUrl))
      },
      {
        changeRepo: write,
        body: CreateLabelOption,
        response: { 201: Label },
        detail: { operationId: 'issueCreateLabel', summary: 'Create a label' },
      },
    )
    .get(
      '/:id',
      async ({ repo, params }) => {
        const label = await getLabel(context, { repositoryId: repo.repository.id }, params.id)
        return presentLabel(label, repo.apiUrl)
      },
      {
        readRepo: read,
        response: { 200: Label },
        detail: { operationId: 'issueGetLabel', summary: 'A label' },
      },
    )
    .patch(
      '/:id',
      async ({ repo, params, body }) => {
        const change = { id: parseId(params.id), option: body }
        return presentLabel(await editLabel(context, { repositoryId: repo.repository.id }, change), repo.apiUrl)
      },
      {
        changeRepo: write,
        body: EditLabelOption,
        response: { 200: Label },
        detail: { operationId: 'issueEditLabel', summary: 'Change a label' },
      },
    )
    .delete(
      '/:id',
      async ({ repo, params, set }) => {
        await deleteLabel(context, { repositoryId: repo.repository.id }, parseId(params.id))
        set.status = 204
      },
      {
        changeRepo: write,
        response: { 204: t.Void() },
        detail: { operationId: 'issueDeleteLabel', summary: 'Delete a label' },
      },
    )
