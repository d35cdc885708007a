import { Elysia } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { viewerOf } from '../../http/viewer.ts'
import { presentUser, User } from '../../wire/user.ts'
import { CreateUserOption } from './schema.ts'
import { createUserAsAdmin } from './service.ts'

export const adminUserRoutes = (context: Context) =>
  new Elysia({ name: 'admin-users', prefix: '/admin/users', detail: { tags: ['admin'] } }).use(gate(context)).post(
    '',
    async ({ actor, body, status }) => {
      const user = await createUserAsAdmin(context, actor.user, body)
      return status(201, presentUser(user, viewerOf(context, actor)))
    },
    {
      admin: true,
      body: CreateUserOption,
      response: { 201: User },
      detail: { operationId: 'adminCreateUser', summary: 'Create a user', 'x-refuses': [400] },
    },
  )
