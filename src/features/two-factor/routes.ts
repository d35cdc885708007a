import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { wireTime } from '../../kernel/time.ts'
import { ConfirmTwoFactorOption, RecoveryCodes, TwoFactorEnrolment, TwoFactorState } from './schema.ts'
import { confirm, enrol, renewRecoveryCodes, switchOff } from './service.ts'
import { countUnusedCodes, findTwoFactor } from './store.ts'

const byPassword = { scope: 'user', personal: true, byPassword: true } as const

/** The Gitea API has nothing for the second factor; these routes are our own. While it is on, a password needs a code. */
const ownTwoFactorRoutes = (context: Context) =>
  new Elysia({ name: 'own-two-factor', prefix: '/user/two_factor', detail: { tags: ['user'] } })
    .use(gate(context))
    .get(
      '',
      async ({ actor }) => {
        const found = await findTwoFactor(context.db, actor.user.id)
        const confirmedAt = found?.confirmedAt ?? null
        return {
          enabled: confirmedAt !== null,
          confirmed_at: confirmedAt && wireTime(confirmedAt),
          recovery_codes_left: await countUnusedCodes(context.db, actor.user.id),
        }
      },
      {
        login: { scope: 'user', personal: true },
        response: { 200: TwoFactorState },
        detail: { operationId: 'userGetTwoFactor', summary: 'Whether two-factor authentication is on' },
      },
    )
    .post(
      '',
      async ({ actor, status }) => {
        const { secret, url, qrSvg } = await enrol(context, actor)
        return status(201, { secret, url, qr_svg: qrSvg })
      },
      {
        login: byPassword,
        response: { 201: TwoFactorEnrolment },
        detail: { operationId: 'userEnrolTwoFactor', summary: 'Begin to enrol an authenticator', 'x-refuses': [409] },
      },
    )
    .post('/confirm', async ({ actor, body }) => ({ recovery_codes: await confirm(context, actor, body.code) }), {
      login: byPassword,
      body: ConfirmTwoFactorOption,
      response: { 200: RecoveryCodes },
      detail: {
        operationId: 'userConfirmTwoFactor',
        summary: 'Switch two-factor authentication on',
        'x-refuses': [409],
      },
    })
    .post('/recovery_codes', async ({ actor }) => ({ recovery_codes: await renewRecoveryCodes(context, actor) }), {
      login: byPassword,
      response: { 200: RecoveryCodes },
      detail: { operationId: 'userRenewRecoveryCodes', summary: 'Make new recovery codes in place of the old' },
    })
    .delete(
      '',
      async ({ actor, set }) => {
        await switchOff(context, { user: actor.user, by: actor })
        set.status = 204
      },
      {
        login: byPassword,
        response: { 204: t.Void() },
        detail: { operationId: 'userDeleteTwoFactor', summary: 'Switch two-factor authentication off' },
      },
    )

export const twoFactorRoutes = (context: Context) =>
  new Elysia({ name: 'two-factor' })
    .use(ownTwoFactorRoutes(context))
    .use(gate(context))
    .delete(
      '/admin/users/:username/two_factor',
      async ({ actor, account, set }) => {
        await switchOff(context, { user: account.row, by: actor })
        set.status = 204
      },
      {
        adminOf: true,
        response: { 204: t.Void() },
        detail: {
          operationId: 'adminDeleteTwoFactor',
          summary: 'Switch two-factor authentication off for a user who lost the authenticator',
          tags: ['admin'],
        },
      },
    )
