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
import { block, unblock } from './service.ts'
import { listBlocked } from './store.ts'

const own = { scope: 'user', personal: true } as const
export const MAX_NOTE_LENGTH = 1000

export const blockRoutes = (context: Context) =>
  new Elysia({ name: 'blocks', prefix: '/user/blocks', detail: { tags: ['user'] } })
    .use(gate(context))
    .get(
      '',
      async ({ actor, query, request, set }) => {
        const { page, total } = paging(context, query, { request, set })
        const blocked = await listBlocked(context.db, actor.user.id, page)
        total(blocked.total)
        const viewer = viewerOf(context, actor)
        return blocked.rows.map((row) => presentUser(row, viewer))
      },
      {
        login: own,
        query: t.Object(pageQuery),
        response: { 200: t.Array(User) },
        detail: { operationId: 'userListBlocks', summary: 'Whom the signed-in user has blocked', 'x-list': 'total' },
      },
    )
    .get(
      '/:username',
      async ({ actor, params, request, set }) => {
        const { row } = await visibleAccount(context, actor, params.username, request)
        if (!(await isBlocked(context.db, { blockerId: actor.user.id, blockedId: row.id }))) throw notFound()
        set.status = 204
      },
      {
        login: own,
        response: { 204: t.Void() },
        detail: { operationId: 'userCheckUserBlock', summary: 'Whether the signed-in user has blocked a user' },
      },
    )
    .put(
      '/:username',
      async ({ actor, params, query, request, set }) => {
        const note = query.note ?? ''
        if (note.length > MAX_NOTE_LENGTH) throw invalid('MaxSize', 'note')
        const { row } = await visibleAccount(context, actor, params.username, request)
        await block(context, { blocker: actor.user, blocked: row, by: actor }, note)
        set.status = 204
      },
      {
        login: own,
        query: t.Object({ note: queryText() }),
        response: { 204: t.Void() },
        detail: { operationId: 'userBlockUser', summary: 'Block a user', 'x-refuses': [307, 400, 422] },
      },
    )
    .delete(
      '/:username',
      async ({ actor, params, request, set }) => {
        const { row } = await visibleAccount(context, actor, params.username, request)
        await unblock(context, { blocker: actor.user, blocked: row, by: actor })
        set.status = 204
      },
      {
        login: own,
        response: { 204: t.Void() },
        detail: { operationId: 'userUnblockUser', summary: 'Unblock a user', 'x-refuses': [307] },
      },
    )
