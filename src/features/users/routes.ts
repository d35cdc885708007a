import { Elysia, t } from 'elysia'
import type { UserRow } from '../../../db/schema/users.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { constantAnswer } from '../../http/answers.ts'
import { endIfUnchanged } from '../../http/freshness.ts'
import { gate } from '../../http/gate.ts'
import { paging } from '../../http/paging.ts'
import { cursorQuery, queryInteger, queryText } from '../../http/query.ts'
import { viewerOf } from '../../http/viewer.ts'
import { presentUser, presentUserToVisitors, User } from '../../wire/user.ts'
import { UserSearchResults } from './schema.ts'
import { searchUsers } from './search.ts'

export const userRoutes = (context: Context) => {
  const presentSelf = selfPresenter(context)
  return new Elysia({ name: 'users', detail: { tags: ['user'] } })
    .use(gate(context))
    .get('/user', ({ actor }) => presentSelf(actor), {
      login: { scope: 'user' },
      response: { 200: User },
      detail: { operationId: 'userGetCurrent', summary: 'The signed-in user' },
    })
    .get(
      '/users/search',
      async ({ actor, query, request, set }) => {
        const { page, links } = paging(context, query, { request, set })
        // Wire: 0 is no filter.
        const found = await searchUsers(context, actor, { text: query.q, id: query.uid || undefined, page })
        links(found.total, found.next)
        const viewer = viewerOf(context, actor)
        return { data: found.rows.map((row) => presentUser(row, viewer)), ok: true }
      },
      {
        open: { scope: 'user' },
        query: t.Object({ q: queryText(), uid: queryInteger(), ...cursorQuery }),
        response: { 200: UserSearchResults },
        detail: { operationId: 'userSearch', summary: 'Search for users', 'x-list': 'links' },
      },
    )
    .get(
      '/users/:username',
      ({ actor, account, request, set }) => {
        endIfUnchanged(context, { actor, request, set }, [account.version])
        return presentUser(account.row, viewerOf(context, actor))
      },
      {
        readUser: { scope: 'user' },
        response: { 200: User },
        detail: { operationId: 'userGet', summary: 'A user by name' },
      },
    )
}

/** The account that a token belongs to is the same object as long as it is kept with the token: it is presented once. */
function selfPresenter(context: Context): (actor: Actor) => User {
  const presented = new WeakMap<UserRow, User>()
  return (actor) => {
    const viewer = viewerOf(context, actor)
    if (actor.publicOnly) return presentUserToVisitors(actor.user, viewer)
    const known = presented.get(actor.user)
    if (known) return known
    const self = constantAnswer(presentUser(actor.user, viewer))
    presented.set(actor.user, self)
    return self
  }
}
