import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { endIfUnchanged } from '../../http/freshness.ts'
import { gate } from '../../http/gate.ts'
import { paging } from '../../http/paging.ts'
import { cursorQuery, queryInteger, queryText } from '../../http/query.ts'
import { viewerOf } from '../../http/viewer.ts'
import { presentUser, presentUserToVisitors, User } from '../../wire/user.ts'
import { UserSearchResults } from './schema.ts'
import { searchUsers } from './search.ts'

export const userRoutes = (context: Context) =>
  new Elysia({ name: 'users', detail: { tags: ['user'] } })
    .use(gate(context))
    .get(
      '/user',
      ({ actor }) => (actor.publicOnly ? presentUserToVisitors : presentUser)(actor.user, viewerOf(context, actor)),
      {
        login: { scope: 'user' },
        response: { 200: User },
        detail: { operationId: 'userGetCurrent', summary: 'The signed-in user' },
      },
    )
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
