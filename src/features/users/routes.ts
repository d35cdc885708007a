import { Elysia, t } from 'elysia'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { Unchanged, unchangedAnswer } from '../../http/answers.ts'
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
    .get('/user', ({ actor }) => presentSelf(context, actor), {
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
        const unchanged = unchangedAnswer(context, { actor, request, set }, [account.version])
        if (unchanged) return unchanged
        return presentUser(account.row, viewerOf(context, actor))
      },
      {
        readUser: { scope: 'user' },
        response: { 200: User, 304: Unchanged },
        detail: { operationId: 'userGet', summary: 'A user by name' },
      },
    )

function presentSelf(context: Context, actor: Actor): User {
  const viewer = viewerOf(context, actor)
  return actor.publicOnly ? presentUserToVisitors(actor.user, viewer) : presentUser(actor.user, viewer)
}
