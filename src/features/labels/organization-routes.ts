import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import type { OrganizationAccess } from '../../http/organization-gate.ts'
import { paging } from '../../http/paging.ts'
import { pageQuery } from '../../http/query.ts'
import { parseId } from '../../kernel/ids.ts'
import { Label, presentLabel } from '../../wire/label.ts'
import { CreateLabelOption, EditLabelOption } from './schema.ts'
import { createLabel, deleteLabel, editLabel, getLabel } from './service.ts'
import { listLabels } from './store.ts'

const read = { scope: 'organization' } as const
const owner = { scope: 'organization', role: 'owner' } as const

/** Labels that every repository of an organization can use. */
export const organizationLabelRoutes = (context: Context) => {
  const urlOf = (org: OrganizationAccess) => `${context.baseUrl}/api/v1/orgs/${org.row.name}`
  const parentOf = (org: OrganizationAccess) => ({ organizationId: org.row.id })
  return new Elysia({ name: 'organization-labels', prefix: '/orgs/:org/labels', detail: { tags: ['organization'] } })
    .use(gate(context))
    .get(
      '',
      async ({ org, query, request, set }) => {
        const { page, total } = paging(context, query, { request, set })
        const labels = await listLabels(context.db, parentOf(org), page)
        total(labels.total)
        return labels.rows.map((row) => presentLabel(row, urlOf(org)))
      },
      {
        readOrg: read,
        query: t.Object(pageQuery),
        response: { 200: t.Array(Label) },
        detail: { operationId: 'orgListLabels', summary: "List an organization's labels", 'x-list': 'total' },
      },
    )
    .post(
      '',
      async ({ org, body, status }) =>
        status(201, presentLabel(await createLabel(context, parentOf(org), body), urlOf(org))),
      {
        changeOrg: owner,
        body: CreateLabelOption,
        response: { 201: Label },
        detail: { operationId: 'orgCreateLabel', summary: 'Create a label for an organization' },
      },
    )
    .get(
      '/:id',
      async ({ org, params }) => presentLabel(await getLabel(context, parentOf(org), params.id), urlOf(org)),
      {
        readOrg: { ...read, login: true },
        response: { 200: Label },
        detail: { operationId: 'orgGetLabel', summary: 'A label of an organization' },
      },
    )
    .patch(
      '/:id',
      async ({ org, params, body }) => {
        const change = { id: parseId(params.id), option: body }
        return presentLabel(await editLabel(context, parentOf(org), change), urlOf(org))
      },
      {
        changeOrg: owner,
        body: EditLabelOption,
        response: { 200: Label },
        detail: { operationId: 'orgEditLabel', summary: 'Change a label of an organization' },
      },
    )
    .delete(
      '/:id',
      async ({ org, params, set }) => {
        await deleteLabel(context, parentOf(org), parseId(params.id))
        set.status = 204
      },
      {
        changeOrg: owner,
        response: { 204: t.Void() },
        detail: { operationId: 'orgDeleteLabel', summary: 'Delete a label of an organization' },
      },
    )
}
