import { Elysia } from 'elysia'
import type { Context } from '../../context.ts'
import { accountPages } from './account.ts'
import { applicationPages } from './applications.ts'
import { keyPages } from './keys.ts'
import { notificationPages } from './notifications.ts'
import { oauthSettingsPages } from './oauth-applications.ts'
import { passwordPages } from './password.ts'
import { profilePages } from './profile.ts'
import { securityPages } from './security.ts'
import { sessionPages } from './sessions.ts'

/** What people set for themselves. */
export const settingsPages = (context: Context) =>
  new Elysia({ name: 'settings-pages', detail: { hide: true } })
    .use(profilePages(context))
    .use(accountPages(context))
    .use(passwordPages(context))
    .use(securityPages(context))
    .use(sessionPages(context))
    .use(applicationPages(context))
    .use(oauthSettingsPages(context))
    .use(keyPages(context))
    .use(notificationPages(context))
