import { eq } from 'drizzle-orm'
import { Elysia, t } from 'elysia'
import { users } from '../../db/schema/users.ts'
import type { Actor } from '../auth/actor.ts'
import type { Context } from '../context.ts'
import { authorize, type NextStep, type Person } from '../oauth/authorize.ts'
import { answerRequest, keepRequest } from '../oauth/consent.ts'
import { formText, formToken } from './form.ts'
import { seeOther } from './layout.ts'
import { consentPage, disabledPage, refusedPage } from './oauth-views.ts'
import { CHANGE_PASSWORD_PATH, pageGate } from './page-gate.ts'
import { addressOf, signInPath } from './paths.ts'

const AUTHORIZE = '/login/oauth/authorize'

/** As long as a body of this form may get: the state of an application is given back as it came. */
const longText = () => formText(20_000)

const GrantForm = t.Object({
  ...formToken,
  request: formText(),
  client_id: formText(),
  redirect_uri: longText(),
  state: longText(),
  scope: longText(),
  nonce: longText(),
  granted: formText(),
})

/** Where applications send people to be signed in, and where these say yes or no. */
export const oauthPages = (context: Context) =>
  new Elysia({ name: 'oauth-pages', detail: { hide: true } })
    .use(pageGate(context))
    .get(AUTHORIZE, ({ actor, request }) => answer(context, actor, new URL(request.url).searchParams), {
      publicPage: { beforeSignIn: true },
    })
    // OpenID Connect Core, 3.1.2.1: a form instead of the query.
    .post(AUTHORIZE, ({ actor, body }) => answer(context, actor, new URLSearchParams(body)), {
      publicPage: { beforeSignIn: true },
      body: t.String(),
    })
    .post(
      '/login/oauth/grant',
      async ({ actor, body }) => {
        if (!context.config.oauth2Enabled) return disabledPage(context, actor)
        const person = personOf(actor)
        if (person?.user.mustChangePassword) return seeOther(context, CHANGE_PASSWORD_PATH)
        const location = person && (await answerRequest(context, body, person))
        return location === undefined ? refusedPage(context, actor, 'Bad Request') : sendTo(location)
      },
      { publicPage: { beforeSignIn: true }, body: GrantForm },
    )

/** A token or a password on this page is not somebody in front of a browser. */
const personOf = (actor: Actor | undefined): Person | undefined =>
  actor?.session && { ...actor, session: actor.session }

async function answer(context: Context, actor: Actor | undefined, sent: URLSearchParams): Promise<Response> {
  if (!context.config.oauth2Enabled) return disabledPage(context, actor)
  const step = await authorize(context, sent, personOf(actor))
  switch (step.kind) {
    case 'refused':
      return refusedPage(context, actor, step.message)
    case 'sent back':
      return sendTo(step.location)
    case 'sign in':
      return seeOther(context, signInFirst(context, step))
    case 'password':
      return seeOther(context, CHANGE_PASSWORD_PATH)
    case 'consent':
      return ask(context, step)
  }
}

function signInFirst(context: Context, { again, isAgain, loginHint }: NextStep & { kind: 'sign in' }): string {
  const path = signInPath(addressOf(context, `${AUTHORIZE}?${again}`))
  const more = new URLSearchParams({
    ...(isAgain ? { prompt: 'login' } : {}),
    ...(loginHint === undefined ? {} : { user_name: loginHint.slice(0, 255) }),
  })
  return more.size === 0 ? path : `${path}&${more}`
}

async function ask(context: Context, { request, person }: NextStep & { kind: 'consent' }): Promise<Response> {
  const { ownerId } = request.application
  const [owner] = ownerId === null ? [] : await context.db.select().from(users).where(eq(users.id, ownerId))
  const handle = await keepRequest(context, request, person)
  return consentPage(context, { request, person, handle, owner })
}

/** RFC 9700, 4.12: 303, so that no browser sends a form on. */
const sendTo = (location: string): Response =>
  new Response(null, { status: 303, headers: { location, 'cache-control': 'no-store' } })
