import { Elysia, t } from 'elysia'
import type { GpgKeyRow } from '../../../db/schema/gpg-keys.ts'
import type { UserRow } from '../../../db/schema/users.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { FileBody } from '../../http/download.ts'
import { gate } from '../../http/gate.ts'
import { paging } from '../../http/paging.ts'
import { pageQuery } from '../../http/query.ts'
import { viewerOf } from '../../http/viewer.ts'
import { parseId } from '../../kernel/ids.ts'
import { GPGKey, presentGpgKey } from '../../wire/gpg-key.ts'
import { loadGpgKeys } from './load.ts'
import { CreateGPGKeyOption, VerifyGPGKeyOption } from './schema.ts'
import { addGpgKey, deleteGpgKey, getOwnGpgKey, verifyGpgKey } from './service.ts'
import { listPrimaryKeys } from './store.ts'
import { gpgKeyToken } from './token.ts'

const scope = { area: 'user', part: 'gpg_key' } as const
const own = { scope, personal: true } as const
const listQuery = t.Object(pageQuery)

/** The signed-in person's own keys. */
const ownGpgKeyRoutes = (context: Context) =>
  new Elysia({ name: 'own-gpg-keys', prefix: '/user/gpg_keys', detail: { tags: ['user'] } })
    .use(gate(context))
    .get(
      '',
      async ({ actor, query, request, set }) => {
        const { page, total } = paging(context, query, { request, set })
        const keys = await listPrimaryKeys(context.db, actor.user.id, page)
        total(keys.total)
        return present(context, { actor, owner: actor.user }, keys.rows)
      },
      {
        login: own,
        query: listQuery,
        response: { 200: t.Array(GPGKey) },
        detail: {
          operationId: 'userCurrentListGPGKeys',
          summary: "The signed-in user's OpenPGP keys",
          'x-list': 'total',
        },
      },
    )
    .post(
      '',
      async ({ actor, body, status }) => {
        const row = await addGpgKey(context, actor, body)
        return status(201, await presentOwn(context, actor, row))
      },
      {
        login: own,
        body: CreateGPGKeyOption,
        response: { 201: GPGKey },
        detail: { operationId: 'userCurrentPostGPGKey', summary: 'Add an OpenPGP key', 'x-refuses': [404] },
      },
    )
    .get(
      '/:id',
      async ({ actor, params }) => presentOwn(context, actor, await getOwnGpgKey(context, actor, parseId(params.id))),
      {
        login: own,
        response: { 200: GPGKey },
        detail: { operationId: 'userCurrentGetGPGKey', summary: 'An OpenPGP key of the signed-in user' },
      },
    )
    .delete(
      '/:id',
      async ({ actor, params, set }) => {
        await deleteGpgKey(context, actor, parseId(params.id))
        set.status = 204
      },
      {
        login: own,
        response: { 204: t.Void() },
        detail: { operationId: 'userCurrentDeleteGPGKey', summary: 'Delete an OpenPGP key' },
      },
    )

export const gpgKeyRoutes = (context: Context) =>
  new Elysia({ name: 'gpg-keys', detail: { tags: ['user'] } })
    .use(ownGpgKeyRoutes(context))
    .use(gate(context))
    .get(
      '/user/gpg_key_token',
      ({ actor }) =>
        new Response(gpgKeyToken(context, actor.user), { headers: { 'content-type': 'text/plain;charset=utf-8' } }),
      {
        login: own,
        response: { 200: FileBody },
        detail: {
          operationId: 'getVerificationToken',
          summary: 'The text to sign with an OpenPGP key, to prove that it is held; good for five minutes at least',
          'x-produces': 'text/plain',
        },
      },
    )
    .post(
      '/user/gpg_key_verify',
      async ({ actor, body }) => presentOwn(context, actor, await verifyGpgKey(context, actor, body)),
      {
        login: own,
        body: VerifyGPGKeyOption,
        // Wire: Gitea answers 200, although its description says 201.
        response: { 200: GPGKey },
        detail: { operationId: 'userVerifyGPGKey', summary: 'Prove that an OpenPGP key is held', 'x-refuses': [404] },
      },
    )
    .get(
      '/users/:username/gpg_keys',
      async ({ actor, account, query, request, set }) => {
        const { page, total } = paging(context, query, { request, set })
        const keys = await listPrimaryKeys(context.db, account.row.id, page)
        total(keys.total)
        return present(context, { actor, owner: account.row }, keys.rows)
      },
      {
        readUser: { scope, login: true },
        query: listQuery,
        response: { 200: t.Array(GPGKey) },
        detail: { operationId: 'userListGPGKeys', summary: 'The OpenPGP keys of a user', 'x-list': 'total' },
      },
    )

async function present(
  context: Context,
  { actor, owner }: { actor: Actor | undefined; owner: UserRow },
  rows: readonly GpgKeyRow[],
): Promise<GPGKey[]> {
  const shown = await loadGpgKeys(context, { owner, viewer: viewerOf(context, actor) }, rows)
  return shown.map(presentGpgKey)
}

async function presentOwn(context: Context, actor: Actor, row: GpgKeyRow): Promise<GPGKey> {
  const [key] = await present(context, { actor, owner: actor.user }, [row])
  if (!key) throw new Error('one row gives one key')
  return key
}
