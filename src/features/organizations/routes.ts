import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { Unchanged, unchangedAnswer } from '../../http/answers.ts'
import { gate } from '../../http/gate.ts'
import { paging } from '../../http/paging.ts'
import { cursorQuery } from '../../http/query.ts'
import { viewerOf } from '../../http/viewer.ts'
import { Organization, presentOrganization } from '../../wire/organization.ts'
import { renameAccount } from '../users/rename.ts'
import { CreateOrgOption, EditOrgOption, RenameOrgOption } from './schema.ts'
import { createOrganization, deleteOrganization, editOrganization } from './service.ts'
import { listOrganizations, openlyListed } from './store.ts'

const owner = { scope: 'organization', role: 'owner' } as const

export const organizationRoutes = (context: Context) =>
  new Elysia({ name: 'organizations', detail: { tags: ['organization'] } })
    .use(gate(context))
    .get(
      '/orgs',
      async ({ actor, query, request, set }) => {
        const { page, links } = paging(context, query, { request, set })
        const found = await listOrganizations(context.db, [openlyListed(context.config, actor)], page)
        links(found.total, found.next)
        return found.rows.map((row) => presentOrganization(row, viewerOf(context, actor)))
      },
      {
        open: { scope: 'organization' },
        query: t.Object(cursorQuery),
        response: { 200: t.Array(Organization) },
        detail: { operationId: 'orgGetAll', summary: 'List organizations', 'x-list': 'links' },
      },
    )
    .post(
      '/orgs',
      async ({ actor, body, status }) => {
        const made = await createOrganization(context, { actor, owner: actor.user, option: body })
        return status(201, presentOrganization(made, viewerOf(context, actor)))
      },
      {
        login: { scope: 'organization' },
        body: CreateOrgOption,
        response: { 201: Organization },
        detail: { operationId: 'orgCreate', summary: 'Create an organization' },
      },
    )
    .get(
      '/orgs/:org',
      ({ actor, org, request, set }) => {
        const unchanged = unchangedAnswer(context, { actor, request, set }, [org.version])
        if (unchanged) return unchanged
        return presentOrganization(org.row, viewerOf(context, actor))
      },
      {
        readOrg: { scope: 'organization' },
        response: { 200: Organization, 304: Unchanged },
        detail: { operationId: 'orgGet', summary: 'An organization by name' },
      },
    )
    .patch(
      '/orgs/:org',
      async ({ actor, org, body }) => {
        const edited = await editOrganization(context, { actor, organization: org.row, option: body })
        return presentOrganization(edited, viewerOf(context, actor))
      },
      {
        changeOrg: owner,
        body: EditOrgOption,
        response: { 200: Organization },
        detail: { operationId: 'orgEdit', summary: 'Change an organization' },
      },
    )
    .post(
      '/orgs/:org/rename',
      async ({ actor, org, body, set }) => {
        await renameAccount(context, org.row, { newName: body.new_name, by: actor })
        set.status = 204
      },
      {
        changeOrg: owner,
        body: RenameOrgOption,
        response: { 204: t.Void() },
        detail: { operationId: 'renameOrg', summary: 'Give an organization another name' },
      },
    )
    .delete(
      '/orgs/:org',
      async ({ actor, org, set }) => {
        await deleteOrganization(context, { actor, organization: org.row })
        set.status = 204
      },
      {
        changeOrg: owner,
        response: { 204: t.Void() },
        detail: { operationId: 'orgDelete', summary: 'Delete an organization that owns nothing', 'x-refuses': [422] },
      },
    )
