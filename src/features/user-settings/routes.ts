import { Elysia } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { presentUserSettings, UserSettings, UserSettingsOptions } from './schema.ts'
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
