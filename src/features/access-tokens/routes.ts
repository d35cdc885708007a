import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { paging } from '../../http/paging.ts'
import { pageQuery } from '../../http/query.ts'
import { forbidden } from '../../kernel/errors.ts'
import { AccessToken, presentAccessToken, presentNewAccessToken } from '../../wire/access-token.ts'
import { CreateAccessTokenOption } from './schema.ts'
import { createToken, deleteToken } from './service.ts'
import { listTokens, loadTokenRepositories } from './store.ts'

export const accessTokenRoutes = (context: Context) =>
  new Elysia({ name: 'access-tokens', prefix: '/users/:username/tokens', detail: { tags: ['user'] } })
    .use(gate(context))
    .post(
      '',
      async ({ actor, account, body, status }) => {
        // A token would outlive the request and hide who made it.
        if (actor.sudoer) throw forbidden('a token cannot be made in the name of another user')
        const { row, ...rest } = await createToken(context, account.row, { ...body, by: actor })
        return status(201, presentNewAccessToken(row, rest))
      },
      {
        password: true,
        body: CreateAccessTokenOption,
        response: { 201: AccessToken },
        detail: { operationId: 'userCreateToken', summary: 'Create an access token', 'x-refuses': [400] },
      },
    )
    .get(
      '',
      async ({ account, query, request, set }) => {
        const { page, total } = paging(context, query, { request, set })
        const tokens = await listTokens(context.db, account.row.id, page)
        const limits = await loadTokenRepositories(
          context.db,
          tokens.rows.filter((row) => row.isLimitedToRepositories).map((row) => row.id),
        )
        total(tokens.total)
        return tokens.rows.map((row) => presentAccessToken(row, limits.get(row.id) ?? []))
      },
      {
        password: true,
        query: t.Object(pageQuery),
        response: { 200: t.Array(AccessToken) },
        detail: { operationId: 'userGetTokens', summary: 'The access tokens of a user', 'x-list': 'total' },
      },
    )
    .delete(
      '/:token',
      async ({ actor, account, params, set }) => {
        await deleteToken(context, { owner: account.row, by: actor }, params.token)
        set.status = 204
      },
      {
        password: true,
        response: { 204: t.Void() },
        detail: { operationId: 'userDeleteAccessToken', summary: 'Delete an access token by its id or name' },
      },
    )
