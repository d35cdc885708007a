import { Elysia, t } from 'elysia'
import type { Actor } from '../auth/actor.ts'
import { FORM_TOKEN_FIELD } from '../auth/csrf.ts'
import { clearCookie } from '../auth/session-cookie.ts'
import { endSession } from '../auth/sessions.ts'
import type { Context } from '../context.ts'
import { type LogoutRequest, readLogoutRequest } from '../oauth/logout.ts'
import { form, hidden } from './form.ts'
import { html } from './html.ts'
import { htmlPage } from './layout.ts'
import { disabledPage, refusedPage } from './oauth-views.ts'
import { pageGate } from './page-gate.ts'
import { addressOf } from './paths.ts'

const PATH = '/login/oauth/logout'

/** Where applications send people to sign them out. */
export const oauthLogoutPage = (context: Context) =>
  new Elysia({ name: 'oauth-logout', detail: { hide: true } })
    .use(pageGate(context))
    .get(PATH, ({ actor, request }) => logout(context, actor, { sent: new URL(request.url).searchParams }), {
      publicPage: { beforeSignIn: true },
    })
    .post(PATH, ({ actor, body }) => logout(context, actor, { sent: new URLSearchParams(body), isConfirmed: true }), {
      publicPage: { beforeSignIn: true },
      body: t.String(),
    })

interface Asked {
  sent: URLSearchParams
  /** By our own form: another site's is refused by the gate. */
  isConfirmed?: boolean
}

async function logout(context: Context, actor: Actor | undefined, { sent, isConfirmed }: Asked): Promise<Response> {
  if (!context.config.oauth2Enabled) return disabledPage(context, actor)
  const request = await readLogoutRequest(context, sent)
  if (typeof request === 'string') return refusedPage(context, actor, request)
  if (!actor?.session) return leave(context, request)
  // Whoever shows an id token of this person is an application that they are signed in to.
  if (!isConfirmed && request.subject !== actor.user.id) return askPage(context, actor, sent)
  await endSession(context.db, actor.session)
  return leave(context, request)
}

function leave(context: Context, { target }: LogoutRequest): Response {
  const headers = new Headers({ location: target ?? addressOf(context, '/'), 'cache-control': 'no-store' })
  headers.append('set-cookie', clearCookie(context, 'session'))
  return new Response(null, { status: 303, headers })
}

/** Asks whoever was sent here, since anybody could have sent them. */
function askPage(context: Context, actor: Actor, sent: URLSearchParams): Response {
  const fields = [...sent].filter(([name]) => name !== FORM_TOKEN_FIELD).map(([name, value]) => hidden(name, value))
  return htmlPage(context, actor, {
    title: 'Sign out',
    width: 'narrow',
    formsLeadAway: true,
    main: html`<h1>Sign out</h1>
<p>You are signed in as <strong>${actor.user.name}</strong>. An application asks you to sign out.</p>
${form(context, { action: PATH, session: actor.session, fields, submit: 'Sign out of this browser' })}`,
  })
}
