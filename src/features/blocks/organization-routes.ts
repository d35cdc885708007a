import { Elysia, t } from 'elysia'
import { isBlocked } from '../../access/blocks.ts'
import type { Context } from '../../context.ts'
import { visibleAccount } from '../../http/account-gate.ts'
import { gate } from '../../http/gate.ts'
import { paging } from '../../http/paging.ts'
import { pageQuery, queryText } from '../../http/query.ts'
import { viewerOf } from '../../http/viewer.ts'
import { invalid, notFound } from '../../kernel/errors.ts'
import { presentUser, User } from '../../wire/user.ts'
import { MAX_NOTE_LENGTH } from './routes.ts'
import { block, unblock } from './service.ts'
import { listBlocked } from './store.ts'

const owner = { scope: 'organization', role: 'owner' } as const

/** Whom an organization has blocked. */
export const organizationBlockRoutes = (context: Context) =>
  new Elysia({ name: 'organization-blocks', prefix: '/orgs/:org/blocks', detail: { tags: ['organization'] } })
    .use(gate(context))
    .get(
      '',
      async ({ actor, org, query, request, set }) => {
        const { page, total } = paging(context, query, { request, set })
        const blocked = await listBlocked(context.db, org.row.id, page)
        total(blocked.total)
        const viewer = viewerOf(context, actor)
        return blocked.rows.map((row) => presentUser(row, viewer))
      },
      {
        readOrg: owner,
        query: t.Object(pageQuery),
        response: { 200: t.Array(User) },
        detail: {
          operationId: 'organizationListBlocks',
          summary: 'Whom an organization has blocked',
          'x-list': 'total',
        },
      },
    )
    .get(
      '/:username',
      async ({ actor, org, params, request, set }) => {
        const { row } = await visibleAccount(context, actor, params.username, request)
        if (!(await isBlocked(context.db, { blockerId: org.row.id, blockedId: row.id }))) throw notFound()
        set.status = 204
      },
      {
        readOrg: owner,
        response: { 204: t.Void() },
        detail: { operationId: 'organizationCheckUserBlock', summary: 'Whether an organization has blocked a user' },
      },
    )
    .put(
      '/:username',
      async ({ actor, org, params, query, request, set }) => {
        const note = query.note ?? ''
        if (note.length > MAX_NOTE_LENGTH) throw invalid('MaxSize', 'note')
        const { row } = await visibleAccount(context, actor, params.username, request)
        await block(context, { blocker: org.row, blocked: row, by: actor }, note)
        set.status = 204
      },
      {
        changeOrg: owner,
        query: t.Object({ note: queryText() }),
        response: { 204: t.Void() },
        detail: {
          operationId: 'organizationBlockUser',
          summary: 'Block a user in an organization',
          'x-refuses': [400, 422],
        },
      },
    )
    .delete(
      '/:username',
      async ({ actor, org, params, request, set }) => {
        const { row } = await visibleAccount(context, actor, params.username, request)
        await unblock(context, { blocker: org.row, blocked: row, by: actor })
        set.status = 204
      },
      {
        changeOrg: owner,
        response: { 204: t.Void() },
        detail: { operationId: 'organizationUnblockUser', summary: 'Unblock a user in an organization' },
      },
    )
