import { Elysia } from 'elysia'
import type { Context } from '../../context.ts'
import { endIfUnchanged } from '../../http/freshness.ts'
import { gate } from '../../http/gate.ts'
import { viewerOf } from '../../http/viewer.ts'
import { presentUser, User } from '../../wire/user.ts'

export const userRoutes = (context: Context) =>
  new Elysia({ name: 'users', detail: { tags: ['user'] } })
    .use(gate(context))
    .get('/user', ({ actor }) => presentUser(actor.user, viewerOf(context, actor)), {
      login: { scope: 'user' },
      response: { 200: User },
      detail: { operationId: 'userGetCurrent', summary: 'The signed-in user' },
    })
    .get(
      '/users/:username',
      ({ actor, account, request, set }) => {
        const viewer = viewerOf(context, actor)
        endIfUnchanged({ request, set }, [account.version, viewer.userId, viewer.isAdmin])
        return presentUser(account.row, viewer)
      },
      {
        readUser: { scope: 'user' },
        response: { 200: User },
        detail: { operationId: 'userGet', summary: 'A user by name' },
      },
    )
