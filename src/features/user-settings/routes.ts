import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { changeOwnPassword } from '../users/password.ts'
import { ChangePasswordOption, presentUserSettings, UserSettings, UserSettingsOptions } from './schema.ts'
import { editSettings } from './service.ts'

export const userSettingsRoutes = (context: Context) =>
  new Elysia({ name: 'user-settings', prefix: '/user/settings', detail: { tags: ['user'] } })
    .use(gate(context))
    .get('', ({ actor }) => presentUserSettings(actor.user), {
      login: { scope: 'user', personal: true },
      response: { 200: UserSettings },
      detail: { operationId: 'getUserSettings', summary: "The signed-in user's settings" },
    })
    .patch('', async ({ actor, body }) => presentUserSettings(await editSettings(context, actor, body)), {
      login: { scope: 'user', personal: true },
      body: UserSettingsOptions,
      response: { 200: UserSettings },
      detail: { operationId: 'updateUserSettings', summary: "Change the signed-in user's settings" },
    })

/** Gitea has this on a page only. Without it, an account that must change its password could do nothing over the API. */
export const passwordRoutes = (context: Context) =>
  new Elysia({ name: 'password', prefix: '/user/password', detail: { tags: ['user'] } }).use(gate(context)).put(
    '',
    async ({ actor, body, set }) => {
      await changeOwnPassword(context, actor, body.new_password)
      set.status = 204
    },
    {
      login: { scope: 'user', byPassword: true, mayChangePassword: true },
      body: ChangePasswordOption,
      response: { 204: t.Void() },
      detail: {
        operationId: 'userChangePassword',
        summary: 'Change the password, with the old one as Basic credential',
        'x-refuses': [400],
      },
    },
  )
