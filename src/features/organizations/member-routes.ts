import { Elysia, t } from 'elysia'
import { maySeeOwner } from '../../access/decide.ts'
import { visibleAccounts } from '../../access/visible-accounts.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import type { OrganizationAccess } from '../../http/organization-gate.ts'
import { paging } from '../../http/paging.ts'
import { cursorQuery } from '../../http/query.ts'
import { viewerOf } from '../../http/viewer.ts'
import { notFound } from '../../kernel/errors.ts'
import { presentUser, User } from '../../wire/user.ts'
import { getMember, removeMember, setMembershipPublic } from './members.ts'
import { findMember, listMembers, type Membership, saysSo } from './store.ts'

const read = { scope: 'organization' } as const
const member = { scope: 'organization', role: 'member' } as const

/** Members see all members, others those who say so and whom they may know of. A token for public things reads like a stranger. */
const seesAll = (actor: Actor | undefined, org: OrganizationAccess): boolean =>
  actor?.publicOnly !== true && (org.isMember || org.isOwner)

const mayKnow = ({ config }: Context, actor: Actor | undefined, { user }: Membership): boolean =>
  maySeeOwner(config, actor, user, false)

export const organizationMemberRoutes = (context: Context) =>
  new Elysia({ name: 'organization-members', prefix: '/orgs/:org', detail: { tags: ['organization'] } })
    .use(gate(context))
    .get(
      '/members',
      async ({ actor, org, query, request, set }) => {
        const { page, links } = paging(context, query, { request, set })
        const conditions = seesAll(actor, org) ? [] : [saysSo, visibleAccounts(context.config, actor)]
        const found = await listMembers(context.db, org.row.id, { conditions, page })
        links(found.total, found.next)
        return found.rows.map((user) => presentUser(user, viewerOf(context, actor)))
      },
      {
        readOrg: { ...read, login: true },
        query: t.Object(cursorQuery),
        response: { 200: t.Array(User) },
        detail: { operationId: 'orgListMembers', summary: "List an organization's members", 'x-list': 'links' },
      },
    )
    .get(
      '/members/:username',
      async ({ actor, org, params, set }) => {
        const found = await findMember(context.db, org.row.id, params.username)
        const isShown = found && (seesAll(actor, org) || (found.isPublic && mayKnow(context, actor, found)))
        if (!isShown) throw notFound()
        set.status = 204
      },
      {
        readOrg: { ...read, login: true },
        response: { 204: t.Void() },
        detail: { operationId: 'orgIsMember', summary: 'Whether somebody is a member, as the caller may know' },
      },
    )
    .delete(
      '/members/:username',
      async ({ actor, org, params, set }) => {
        await removeMember(context, { actor, org, name: params.username })
        set.status = 204
      },
      {
        changeOrg: { scope: 'organization', role: 'owner' },
        response: { 204: t.Void() },
        detail: { operationId: 'orgDeleteMember', summary: 'Take a member out of all teams', 'x-refuses': [422] },
      },
    )
    .get(
      '/public_members',
      async ({ actor, org, query, request, set }) => {
        const { page, links } = paging(context, query, { request, set })
        const conditions = seesAll(actor, org) ? [saysSo] : [saysSo, visibleAccounts(context.config, actor)]
        const found = await listMembers(context.db, org.row.id, { conditions, page })
        links(found.total, found.next)
        return found.rows.map((user) => presentUser(user, viewerOf(context, actor)))
      },
      {
        readOrg: read,
        query: t.Object(cursorQuery),
        response: { 200: t.Array(User) },
        detail: { operationId: 'orgListPublicMembers', summary: 'List the members who say so', 'x-list': 'links' },
      },
    )
    .get(
      '/public_members/:username',
      async ({ actor, org, params, set }) => {
        const found = await getMember(context, org, params.username)
        if (!found.isPublic || !(seesAll(actor, org) || mayKnow(context, actor, found))) throw notFound()
        set.status = 204
      },
      {
        readOrg: read,
        response: { 204: t.Void() },
        detail: { operationId: 'orgIsPublicMember', summary: 'Whether somebody is a member and says so' },
      },
    )
    .put(
      '/public_members/:username',
      async ({ actor, org, params, set }) => {
        await setMembershipPublic(context, { actor, org, name: params.username, isPublic: true })
        set.status = 204
      },
      {
        changeOrg: member,
        response: { 204: t.Void() },
        detail: { operationId: 'orgPublicizeMember', summary: 'Say that you are a member' },
      },
    )
    .delete(
      '/public_members/:username',
      async ({ actor, org, params, set }) => {
        await setMembershipPublic(context, { actor, org, name: params.username, isPublic: false })
        set.status = 204
      },
      {
        changeOrg: member,
        response: { 204: t.Void() },
        detail: { operationId: 'orgConcealMember', summary: 'Say no longer that you are a member' },
      },
    )
