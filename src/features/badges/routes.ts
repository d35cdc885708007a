import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { paging } from '../../http/paging.ts'
import { pageQuery } from '../../http/query.ts'
import { Badge, presentBadge } from '../../wire/badge.ts'
import { CreateBadgeOption, EditBadgeOption, UserBadgeOption } from './schema.ts'
import { createBadge, deleteBadge, editBadge, giveUserBadges, takeUserBadges } from './service.ts'
import { listBadges, listUserBadges } from './store.ts'

export const userBadgeRoutes = (context: Context) =>
  new Elysia({ name: 'user-badges', prefix: '/admin/users/:username/badges', detail: { tags: ['admin'] } })
    .use(gate(context))
    .get(
      '',
      async ({ account, query, request, set }) => {
        const { page, total } = paging(context, query, { request, set })
        const found = await listUserBadges(context.db, account.row.id, page)
        total(found.total)
        return found.rows.map(presentBadge)
      },
      {
        adminOf: true,
        query: t.Object(pageQuery),
        response: { 200: t.Array(Badge) },
        detail: { operationId: 'adminListUserBadges', summary: "A user's badges", 'x-list': 'total' },
      },
    )
    .post(
      '',
      async ({ actor, account, body, set }) => {
        await giveUserBadges(context, { user: account.row, by: actor, slugs: body.badge_slugs })
        set.status = 204
      },
      {
        adminOf: true,
        body: UserBadgeOption,
        response: { 204: t.Void() },
        detail: { operationId: 'adminAddUserBadges', summary: 'Give badges to a user' },
      },
    )
    .delete(
      '',
      async ({ actor, account, body, set }) => {
        await takeUserBadges(context, { user: account.row, by: actor, slugs: body.badge_slugs })
        set.status = 204
      },
      {
        adminOf: true,
        body: UserBadgeOption,
        response: { 204: t.Void() },
        detail: { operationId: 'adminDeleteUserBadges', summary: 'Take badges from a user' },
      },
    )

/** The badges that can be given. Gitea keeps them in the database only; here administrators define them. */
export const badgeRoutes = (context: Context) =>
  new Elysia({ name: 'badges', prefix: '/admin/badges', detail: { tags: ['admin'] } })
    .use(gate(context))
    .get(
      '',
      async ({ query, request, set }) => {
        const { page, links } = paging(context, query, { request, set })
        const found = await listBadges(context.db, page)
        links(found.total)
        return found.rows.map(presentBadge)
      },
      {
        admin: true,
        query: t.Object(pageQuery),
        response: { 200: t.Array(Badge) },
        detail: { operationId: 'adminListBadges', summary: 'All badges', 'x-list': 'links' },
      },
    )
    .post('', async ({ actor, body, status }) => status(201, presentBadge(await createBadge(context, actor, body))), {
      admin: true,
      body: CreateBadgeOption,
      response: { 201: Badge },
      detail: { operationId: 'adminCreateBadge', summary: 'Define a badge', 'x-refuses': [409] },
    })
    .patch(
      '/:slug',
      async ({ actor, params, body }) =>
        presentBadge(await editBadge(context, actor, { slug: params.slug, option: body })),
      {
        admin: true,
        body: EditBadgeOption,
        response: { 200: Badge },
        detail: { operationId: 'adminEditBadge', summary: 'Change a badge' },
      },
    )
    .delete(
      '/:slug',
      async ({ actor, params, set }) => {
        await deleteBadge(context, actor, params.slug)
        set.status = 204
      },
      {
        admin: true,
        response: { 204: t.Void() },
        detail: { operationId: 'adminDeleteBadge', summary: 'Delete a badge, also from those who have it' },
      },
    )
