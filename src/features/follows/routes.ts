import { Elysia, t } from 'elysia'
import { visibleAccounts } from '../../access/visible-accounts.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { visibleAccount } from '../../http/account-gate.ts'
import { gate } from '../../http/gate.ts'
import { paging } from '../../http/paging.ts'
import { cursorQuery } from '../../http/query.ts'
import { viewerOf } from '../../http/viewer.ts'
import { notFound } from '../../kernel/errors.ts'
import { presentUser, User } from '../../wire/user.ts'
import { follow } from './service.ts'
import { type FollowList, isFollowing, listFollows, removeFollow } from './store.ts'

const scope = { area: 'user', part: 'follow' } as const
const People = t.Array(User)
const query = t.Object(cursorQuery)
const list = (operationId: string, summary: string) => ({ operationId, summary, 'x-list': 'total' }) as const

type Asked = Parameters<typeof paging>[2] & { query: { page?: unknown; limit?: unknown; cursor?: unknown } }

async function listPeople(context: Context, actor: Actor | undefined, which: FollowList, asked: Asked) {
  const { page, total } = paging(context, asked.query, asked)
  const people = await listFollows(context.db, which, { visible: visibleAccounts(context.config, actor), page })
  total(people.total, people.next)
  const viewer = viewerOf(context, actor)
  return people.rows.map((row) => presentUser(row, viewer))
}

/** The signed-in person's followers, and whom they follow. */
const ownFollowRoutes = (context: Context) =>
  new Elysia({ name: 'own-follows', prefix: '/user', detail: { tags: ['user'] } })
    .use(gate(context))
    .get('/followers', ({ actor, ...asked }) => listPeople(context, actor, { followersOf: actor.user.id }, asked), {
      login: { scope },
      query,
      response: { 200: People },
      detail: list('userCurrentListFollowers', "The signed-in user's followers"),
    })
    .get('/following', ({ actor, ...asked }) => listPeople(context, actor, { followedBy: actor.user.id }, asked), {
      login: { scope },
      query,
      response: { 200: People },
      detail: list('userCurrentListFollowing', 'Whom the signed-in user follows'),
    })
    .get(
      '/following/:username',
      async ({ actor, account, set }) => {
        if (!actor || !(await isFollowing(context.db, actor.user.id, account.row.id))) throw notFound()
        set.status = 204
      },
      {
        readUser: { scope, login: true },
        response: { 204: t.Void() },
        detail: { operationId: 'userCurrentCheckFollowing', summary: 'Whether the signed-in user follows a user' },
      },
    )
    .put(
      '/following/:username',
      async ({ actor, account, set }) => {
        if (actor) await follow(context, actor.user, account.row)
        set.status = 204
      },
      {
        readUser: { scope, login: true },
        response: { 204: t.Void() },
        detail: { operationId: 'userCurrentPutFollow', summary: 'Follow a user' },
      },
    )
    .delete(
      '/following/:username',
      async ({ actor, account, set }) => {
        if (actor) await removeFollow(context.db, actor.user.id, account.row.id)
        set.status = 204
      },
      {
        readUser: { scope, login: true },
        response: { 204: t.Void() },
        detail: { operationId: 'userCurrentDeleteFollow', summary: 'Unfollow a user' },
      },
    )

/** Anybody's followers, and whom they follow, as far as the reader may know of them. */
export const followRoutes = (context: Context) =>
  new Elysia({ name: 'follows', detail: { tags: ['user'] } })
    .use(ownFollowRoutes(context))
    .use(gate(context))
    .get(
      '/users/:username/followers',
      ({ actor, account, ...asked }) => listPeople(context, actor, { followersOf: account.row.id }, asked),
      {
        readUser: { scope, login: true },
        query,
        response: { 200: People },
        detail: list('userListFollowers', "A user's followers"),
      },
    )
    .get(
      '/users/:username/following',
      ({ actor, account, ...asked }) => listPeople(context, actor, { followedBy: account.row.id }, asked),
      {
        readUser: { scope, login: true },
        query,
        response: { 200: People },
        detail: list('userListFollowing', 'Whom a user follows'),
      },
    )
    .get(
      '/users/:username/following/:target',
      async ({ actor, account, params, request, set }) => {
        const target = await visibleAccount(context, actor, params.target, request)
        if (!(await isFollowing(context.db, account.row.id, target.row.id))) throw notFound()
        set.status = 204
      },
      {
        readUser: { scope, login: true },
        response: { 204: t.Void() },
        detail: { operationId: 'userCheckFollowing', summary: 'Whether one user follows another' },
      },
    )
