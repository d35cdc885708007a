import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { paging } from '../../http/paging.ts'
import { viewerOf } from '../../http/viewer.ts'
import { presentUser, User } from '../../wire/user.ts'
import { renameAccount } from '../users/rename.ts'
import { deleteUser } from './delete.ts'
import { editUserAsAdmin } from './edit.ts'
import { CreateUserOption, EditUserOption, PurgeQuery, RenameUserOption, UserSearchQuery } from './schema.ts'
import { searchAllUsers } from './search.ts'
import { createUserAsAdmin, requirePerson } from './service.ts'

export const adminUserRoutes = (context: Context) =>
  new Elysia({ name: 'admin-users', prefix: '/admin/users', detail: { tags: ['admin'] } })
    .use(gate(context))
    .get(
      '',
      async ({ actor, query, request, set }) => {
        const { page, links } = paging(context, query, { request, set })
        const found = await searchAllUsers(context, query, page)
        links(found.total, found.next)
        const viewer = viewerOf(context, actor)
        return found.rows.map((row) => presentUser(row, viewer))
      },
      {
        admin: true,
        query: UserSearchQuery,
        response: { 200: t.Array(User) },
        detail: { operationId: 'adminSearchUsers', summary: 'Search all users', 'x-list': 'links', 'x-refuses': [422] },
      },
    )
    .post(
      '',
      async ({ actor, body, status }) => {
        const user = await createUserAsAdmin(context, actor, body)
        return status(201, presentUser(user, viewerOf(context, actor)))
      },
      {
        admin: true,
        body: CreateUserOption,
        response: { 201: User },
        detail: { operationId: 'adminCreateUser', summary: 'Create a user', 'x-refuses': [400] },
      },
    )
    .patch(
      '/:username',
      async ({ actor, account, body }) => {
        const user = await editUserAsAdmin(context, { user: account.row, by: actor }, body)
        return presentUser(user, viewerOf(context, actor))
      },
      {
        adminOf: true,
        body: EditUserOption,
        response: { 200: User },
        detail: { operationId: 'adminEditUser', summary: 'Change a user', 'x-refuses': [400] },
      },
    )
    .delete(
      '/:username',
      async ({ actor, account, query, set }) => {
        await deleteUser(context, { user: account.row, by: actor, purge: query.purge ?? false })
        set.status = 204
      },
      {
        adminOf: true,
        query: PurgeQuery,
        response: { 204: t.Void() },
        detail: { operationId: 'adminDeleteUser', summary: 'Delete a user', 'x-refuses': [422] },
      },
    )
    .post(
      '/:username/rename',
      async ({ actor, account, body, set }) => {
        requirePerson(account.row)
        await renameAccount(context, account.row, { newName: body.new_username, by: actor })
        set.status = 204
      },
      {
        adminOf: true,
        body: RenameUserOption,
        response: { 204: t.Void() },
        detail: { operationId: 'adminRenameUser', summary: 'Rename a user' },
      },
    )
