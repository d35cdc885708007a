import { Elysia } from 'elysia'
import type { SessionRow } from '../../db/schema/sessions.ts'
import type { Actor } from '../auth/actor.ts'
import { FORM_TOKEN_FIELD, isSafe, requireOwnRequest } from '../auth/csrf.ts'
import { isRecentSignIn, RECENT_SECONDS } from '../auth/sessions.ts'
import type { Context } from '../context.ts'
import { identify } from '../http/admission.ts'
import { refuseUnreadableBody } from '../http/body.ts'
import { exchangeOf, pathOf } from '../http/exchange.ts'
import { Refusal } from '../kernel/errors.ts'
import { addressOf, signInAgainPath, signInPath } from './paths.ts'

interface Stage {
  request: Request
  body?: unknown
}

/** Somebody whose browser is signed in. */
export type SignedIn = Actor & { session: SessionRow }

/** Where an account that must change its password is sent, whatever page it asks for. */
export const CHANGE_PASSWORD_PATH = '/user/settings/change_password'

/**
 * The guards that pages choose from, exactly one each. They judge in the order of the gates of the API: where the request came
 * from (403), credential, account (403), then whether somebody has to sign in first (303).
 *
 * Each route gets an object of its own for its rules and schemas: Elysia writes the gate into it, and with it the service it is of.
 */
export const pageGate = (context: Context) =>
  new Elysia({ name: 'page-gate' }).macro({
    /** Anybody. `beforeSignIn`: also where the site asks everybody to sign in, and before a password that must be changed. */
    publicPage: (rule: { beforeSignIn: boolean }) => ({
      async transform({ request, body }: Stage) {
        const actor = await identifyReader(context, request, body)
        if (!rule.beforeSignIn) {
          if (!actor && context.config.requireSigninView) throw signInFirst(context, request)
          if (actor) requireChosenPassword(context, actor)
        }
        pass(request, body, actor)
      },
      resolve: ({ request }: { request: Request }) => ({ actor: exchangeOf(request).admitted?.actor }),
    }),

    /**
     * Whoever is signed in with a session. No token or password opens such a page: it has no scopes, and no form of them. `recently`: for
     * what would give the account away to whoever found the browser open.
     */
    ownPage: (rule: { recently: boolean; mayChangePassword?: boolean }) => ({
      async transform({ request, body }: Stage) {
        const actor = await identifyReader(context, request, body)
        if (!actor?.session) throw signInFirst(context, request)
        if (!rule.mayChangePassword) requireChosenPassword(context, actor)
        if (rule.recently) requireRecentSignIn(context, request, actor.session)
        pass(request, body, actor)
      },
      resolve: ({ request }: { request: Request }) => ({ actor: signedIn(request) }),
    }),
  })

async function identifyReader(context: Context, request: Request, body: unknown): Promise<Actor | undefined> {
  exchangeOf(request).isPage = true
  const formToken = readFormToken(body)
  const actor = await identify(context, request, { mayChangePassword: true, formToken })
  requireOwnRequest(context, request, { session: actor?.session, formToken, isPage: true })
  return actor
}

function readFormToken(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null) return undefined
  const entry = Object.entries(body).find(([name]) => name === FORM_TOKEN_FIELD)
  return typeof entry?.[1] === 'string' ? entry[1] : undefined
}

function pass(request: Request, body: unknown, actor: Actor | undefined): void {
  refuseUnreadableBody(body)
  exchangeOf(request).admitted = { actor }
}

function signedIn(request: Request): SignedIn {
  const actor = exchangeOf(request).admitted?.actor
  if (!actor?.session) throw new Error('the page gate has not judged this request')
  return { ...actor, session: actor.session }
}

const redirect = (context: Context, local: string): Refusal =>
  new Refusal(303, '', { headers: { location: addressOf(context, local) } })

function signInFirst(context: Context, request: Request): Refusal {
  return redirect(context, signInPath(pageAsked(context, request)))
}

/** The page that was asked for. What a form had sent is lost, and its address may show nothing. */
function pageAsked(context: Context, { method, url }: Request): string | undefined {
  return isSafe(method) ? addressOf(context, `${pathOf(url)}${new URL(url).search}`) : undefined
}

/** @throws Refusal 303 to the page of signing in for whoever did not in the last hour */
export function requireRecentSignIn(context: Context, request: Request, session: SessionRow): void {
  // There is time to fill in a form: its page was shown in the first hour.
  const seconds = isSafe(request.method) ? RECENT_SECONDS : 2 * RECENT_SECONDS
  if (isRecentSignIn(context, session, seconds)) return
  throw redirect(context, signInAgainPath(pageAsked(context, request) ?? addressOf(context, '/user/settings')))
}

function requireChosenPassword(context: Context, { user }: Actor): void {
  if (user.mustChangePassword) throw redirect(context, CHANGE_PASSWORD_PATH)
}
