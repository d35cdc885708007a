import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { paging } from '../../http/paging.ts'
import { pageQuery, queryText } from '../../http/query.ts'
import { viewerOf } from '../../http/viewer.ts'
import { parseId } from '../../kernel/ids.ts'
import { PublicKey, presentPublicKey } from '../../wire/public-key.ts'
import { CreateKeyOption } from './schema.ts'
import { addKey, deleteKey, getOwnKey } from './service.ts'
import { listKeys } from './store.ts'

const scope = { area: 'user', part: 'public_key' } as const
const own = { scope, personal: true } as const
const listQuery = t.Object({ fingerprint: queryText(), ...pageQuery })

/** The signed-in person's own keys. */
const ownKeyRoutes = (context: Context) =>
  new Elysia({ name: 'own-public-keys', prefix: '/user/keys', detail: { tags: ['user'] } })
    .use(gate(context))
    .get(
      '',
      async ({ actor, query, request, set }) => {
        const { page, links } = paging(context, query, { request, set })
        const keys = await listKeys(context.db, actor.user.id, { fingerprint: query.fingerprint, page })
        links(keys.total)
        const viewer = viewerOf(context, actor)
        return keys.rows.map((row) => presentPublicKey(row, actor.user, viewer))
      },
      {
        login: own,
        query: listQuery,
        response: { 200: t.Array(PublicKey) },
        detail: { operationId: 'userCurrentListKeys', summary: "The signed-in user's public keys", 'x-list': 'links' },
      },
    )
    .post(
      '',
      async ({ actor, body, status }) => {
        const row = await addKey(context, { owner: actor.user, by: actor }, body)
        return status(201, presentPublicKey(row, actor.user, viewerOf(context, actor)))
      },
      {
        login: own,
        body: CreateKeyOption,
        response: { 201: PublicKey },
        detail: { operationId: 'userCurrentPostKey', summary: 'Add a public key' },
      },
    )
    .get(
      '/:id',
      async ({ actor, params }) => {
        const row = await getOwnKey(context, actor, parseId(params.id))
        return presentPublicKey(row, actor.user, viewerOf(context, actor))
      },
      {
        login: own,
        response: { 200: PublicKey },
        detail: { operationId: 'userCurrentGetKey', summary: 'A public key of the signed-in user' },
      },
    )
    .delete(
      '/:id',
      async ({ actor, params, set }) => {
        await deleteKey(context, { owner: actor.user, by: actor }, parseId(params.id))
        set.status = 204
      },
      {
        login: own,
        response: { 204: t.Void() },
        detail: { operationId: 'userCurrentDeleteKey', summary: 'Delete a public key' },
      },
    )

/** Keys of anybody, for those who may know of the person, and for administrators to give and take. */
export const publicKeyRoutes = (context: Context) =>
  new Elysia({ name: 'public-keys' })
    .use(ownKeyRoutes(context))
    .use(gate(context))
    .get(
      '/users/:username/keys',
      async ({ actor, account, query, request, set }) => {
        const { page, links } = paging(context, query, { request, set })
        const keys = await listKeys(context.db, account.row.id, { fingerprint: query.fingerprint, page })
        links(keys.total)
        const viewer = viewerOf(context, actor)
        return keys.rows.map((row) => presentPublicKey(row, account.row, viewer))
      },
      {
        readUser: { scope, login: true },
        query: listQuery,
        response: { 200: t.Array(PublicKey) },
        detail: {
          operationId: 'userListKeys',
          summary: 'The public keys of a user',
          tags: ['user'],
          'x-list': 'links',
        },
      },
    )
    .post(
      '/admin/users/:username/keys',
      async ({ actor, account, body, status }) => {
        const row = await addKey(context, { owner: account.row, by: actor }, body)
        return status(201, presentPublicKey(row, account.row, viewerOf(context, actor)))
      },
      {
        adminOf: true,
        body: CreateKeyOption,
        response: { 201: PublicKey },
        detail: { operationId: 'adminCreatePublicKey', summary: 'Add a public key for a user', tags: ['admin'] },
      },
    )
    .delete(
      '/admin/users/:username/keys/:id',
      async ({ actor, account, params, set }) => {
        await deleteKey(context, { owner: account.row, by: actor }, parseId(params.id))
        set.status = 204
      },
      {
        adminOf: true,
        response: { 204: t.Void() },
        detail: { operationId: 'adminDeleteUserPublicKey', summary: "Delete a user's public key", tags: ['admin'] },
      },
    )
