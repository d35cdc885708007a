import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { UpdateUserAvatarOption } from './routes.ts'
import { clearAccountAvatar, setAccountAvatar } from './service.ts'

const owner = { scope: 'organization', role: 'owner' } as const

export const organizationAvatarRoutes = (context: Context) =>
  new Elysia({ name: 'organization-avatar', prefix: '/orgs/:org/avatar', detail: { tags: ['organization'] } })
    .use(gate(context))
    .post(
      '',
      async ({ actor, org, body, set }) => {
        await setAccountAvatar(context, { account: org.row, by: actor }, body.image)
        set.status = 204
      },
      {
        changeOrg: owner,
        body: UpdateUserAvatarOption,
        response: { 204: t.Void() },
        detail: { operationId: 'orgUpdateAvatar', summary: 'Upload an avatar', 'x-refuses': [400, 413] },
      },
    )
    .delete(
      '',
      async ({ actor, org, set }) => {
        await clearAccountAvatar(context, { account: org.row, by: actor })
        set.status = 204
      },
      {
        changeOrg: owner,
        response: { 204: t.Void() },
        detail: { operationId: 'orgDeleteAvatar', summary: 'Delete the uploaded avatar' },
      },
    )
