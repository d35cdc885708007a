import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { hasCurrent } from '../../http/answers.ts'
import { gate } from '../../http/gate.ts'
import { notFound } from '../../kernel/errors.ts'
import { drawIdenticon } from './identicon.ts'
import { clearAccountAvatar, findAvatar, setAccountAvatar } from './service.ts'

const own = { scope: 'user', personal: true } as const

export const UpdateUserAvatarOption = t.Object(
  { image: t.String({ minLength: 1, description: 'The picture in base64: PNG, JPEG, GIF or WebP, at most 1 MiB.' }) },
  { $id: 'UpdateUserAvatarOption' },
)

export const ownAvatarRoutes = (context: Context) =>
  new Elysia({ name: 'own-avatar', prefix: '/user/avatar', detail: { tags: ['user'] } })
    .use(gate(context))
    .post(
      '',
      async ({ actor, body, set }) => {
        await setAccountAvatar(context, { account: actor.user, by: actor }, body.image)
        set.status = 204
      },
      {
        login: own,
        body: UpdateUserAvatarOption,
        response: { 204: t.Void() },
        detail: { operationId: 'userUpdateAvatar', summary: 'Upload an avatar', 'x-refuses': [400, 413] },
      },
    )
    .delete(
      '',
      async ({ actor, set }) => {
        await clearAccountAvatar(context, { account: actor.user, by: actor })
        set.status = 204
      },
      {
        login: own,
        response: { 204: t.Void() },
        detail: { operationId: 'userDeleteAvatar', summary: 'Delete the uploaded avatar' },
      },
    )

/** Whatever a picture holds, nothing in it may run or load. */
const headers = {
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'cross-origin',
}

/**
 * The addresses that `avatar_url` names, outside of the API. A drawn picture depends on its address alone, so that it reveals nothing
 * of who is there.
 */
export const avatarRoutes = (context: Context) =>
  new Elysia({ name: 'avatars', detail: { hide: true } })
    .use(gate(context))
    .get('/avatars/:hash', ({ params, request }) => showAvatar(context, params.hash, request), {
      open: { beforeSignIn: true },
    })
    .get('/repo-avatars/:hash', ({ params, request }) => showAvatar(context, params.hash, request), {
      open: { beforeSignIn: true },
    })

async function showAvatar({ db }: Context, name: string, request: Request): Promise<Response> {
  if (/^[0-9a-f]{32}$/.test(name)) {
    const svg = { ...headers, 'content-type': 'image/svg+xml', 'cache-control': 'public, max-age=86400' }
    return new Response(drawIdenticon(name), { headers: svg })
  }
  if (!/^[0-9a-f]{64}$/.test(name)) throw notFound()
  const common = { ...headers, etag: `"${name}"`, 'cache-control': 'public, max-age=31536000, immutable' }
  const avatar = await findAvatar(db, name)
  if (!avatar) throw notFound()
  if (hasCurrent(request, common.etag)) return new Response(null, { status: 304, headers: common })
  return new Response(new Uint8Array(avatar.content), { headers: { ...common, 'content-type': avatar.mediaType } })
}
