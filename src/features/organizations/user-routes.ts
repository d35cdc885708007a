import { Elysia, t } from 'elysia'
import { visibleAccounts } from '../../access/visible-accounts.ts'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { organizationFor } from '../../http/organization-gate.ts'
import { paging } from '../../http/paging.ts'
import { cursorQuery } from '../../http/query.ts'
import { viewerOf } from '../../http/viewer.ts'
import { notFound } from '../../kernel/errors.ts'
import { Organization, presentOrganization } from '../../wire/organization.ts'
import { CreateOrgOption, OrganizationPermissions } from './schema.ts'
import { createOrganization } from './service.ts'
import { belongsTo, findTeamRights, listOrganizations } from './store.ts'

const mine = ['user', 'organization'] as const

/** Organizations as people and administrators come to them. */
export const userOrganizationRoutes = (context: Context) =>
  new Elysia({ name: 'user-organizations' })
    .use(gate(context))
    .get(
      '/user/orgs',
      async ({ actor, query, request, set }) => {
        const { page, links } = paging(context, query, { request, set })
        const found = await listOrganizations(context.db, [belongsTo(actor.user.id, { publicly: false })], page)
        links(found.total, found.next)
        return found.rows.map((row) => presentOrganization(row, viewerOf(context, actor)))
      },
      {
        login: { scope: mine, personal: true },
        query: t.Object(cursorQuery),
        response: { 200: t.Array(Organization) },
        detail: {
          operationId: 'orgListCurrentUserOrgs',
          summary: 'List your organizations',
          tags: ['organization'],
          'x-list': 'links',
        },
      },
    )
    .get(
      '/users/:username/orgs',
      async ({ actor, account, query, request, set }) => {
        const { page, links } = paging(context, query, { request, set })
        const isPrivy = actor !== undefined && (actor.user.id === account.row.id || actor.user.isAdmin)
        const theirs = belongsTo(account.row.id, { publicly: !isPrivy || actor.publicOnly })
        const found = await listOrganizations(context.db, [theirs, visibleAccounts(context.config, actor)], page)
        links(found.total, found.next)
        return found.rows.map((row) => presentOrganization(row, viewerOf(context, actor)))
      },
      {
        readUser: { scope: mine, login: true },
        query: t.Object(cursorQuery),
        response: { 200: t.Array(Organization) },
        detail: {
          operationId: 'orgListUserOrgs',
          summary: "List a user's organizations: all of your own, of others those they show",
          tags: ['organization'],
          'x-list': 'links',
        },
      },
    )
    .get(
      '/users/:username/orgs/:org/permissions',
      async ({ actor, account, params, request }) => {
        const path = { request, name: params.org }
        const org = await organizationFor(context, actor, path, {})
        if (actor?.user.id !== account.row.id && !org.isOwner) throw notFound()
        const rights = await findTeamRights(context.db, org.row.id, account.row.id)
        const isAdministrator = account.row.isAdmin
        return {
          is_owner: rights.isOwner,
          is_admin: rights.isAdmin || isAdministrator,
          can_write: rights.canWrite || isAdministrator,
          can_read: rights.canRead || isAdministrator,
          can_create_repository: rights.canCreateRepository || isAdministrator,
        }
      },
      {
        readUser: { scope: mine, login: true },
        response: { 200: OrganizationPermissions },
        detail: {
          operationId: 'orgGetUserPermissions',
          summary: 'What somebody may do in an organization',
          tags: ['organization'],
        },
      },
    )
    .get(
      '/admin/orgs',
      async ({ actor, query, request, set }) => {
        const { page, links } = paging(context, query, { request, set })
        const found = await listOrganizations(context.db, [], page)
        links(found.total, found.next)
        return found.rows.map((row) => presentOrganization(row, viewerOf(context, actor)))
      },
      {
        admin: true,
        query: t.Object(cursorQuery),
        response: { 200: t.Array(Organization) },
        detail: {
          operationId: 'adminGetAllOrgs',
          summary: 'List all organizations',
          tags: ['admin'],
          'x-list': 'links',
        },
      },
    )
    .post(
      '/admin/users/:username/orgs',
      async ({ actor, account, body, status }) => {
        // Wire: these two are not taken from an administrator; the owner sets them.
        const option = { ...body, email: undefined, repo_admin_change_team_access: undefined }
        const made = await createOrganization(context, { actor, owner: account.row, option })
        return status(201, presentOrganization(made, viewerOf(context, actor)))
      },
      {
        adminOf: true,
        body: CreateOrgOption,
        response: { 201: Organization },
        detail: { operationId: 'adminCreateOrg', summary: 'Create an organization owned by a user', tags: ['admin'] },
      },
    )
