import { Elysia, t } from 'elysia'
import type { AuthSourceRow } from '../../db/schema/auth-sources.ts'
import type { UserRow } from '../../db/schema/users.ts'
import type { Actor } from '../auth/actor.ts'
import { requireUsableAccount } from '../auth/authenticate.ts'
import { networkOfOrigin } from '../auth/origin.ts'
import { PENDING_SECONDS, sealPending } from '../auth/pending-sign-in.ts'
import { clearCookie, readCookie, writeCookie } from '../auth/session-cookie.ts'
import { hasTwoFactor } from '../auth/two-factor.ts'
import type { Context } from '../context.ts'
import {
  arrive,
  findNewcomer,
  keepNewcomer,
  NEWCOMER_SECONDS,
  registerNewcomer,
} from '../features/auth-sources/arrival.ts'
import { connect } from '../features/auth-sources/connect.ts'
import { beginFlow, FLOW_SECONDS, type Flow, openFlow } from '../features/auth-sources/flow.ts'
import { type ExternalPerson, readPerson } from '../features/auth-sources/person.ts'
import { findSource } from '../features/auth-sources/store.ts'
import { originOf } from '../http/admission.ts'
import { exchangeOf } from '../http/exchange.ts'
import { spend } from '../http/rate-limit.ts'
import { badRequest, notFound } from '../kernel/errors.ts'
import { beginSession } from './begin-session.ts'
import { formText, formToken, tryForm } from './form.ts'
import { seeOther } from './layout.ts'
import { pageGate } from './page-gate.ts'
import { addressOf, localTarget, signInAgainPath, signInPath } from './paths.ts'
import { newcomerPage, noNewcomerPage } from './provider-views.ts'
import { secondFactorPath } from './sign-in-pages.ts'

export const CONNECTIONS_PATH = '/user/settings/security'
/** Wire: the addresses of these pages are Gitea's, so that what is registered with a provider can stay. */
const NEWCOMER_PATH = '/user/link_account'
/** Of one network: each lets us ask a provider. */
const FROM_NETWORK = { requests: 600, seconds: 3600 }

const anybody = { beforeSignIn: true }

/** @throws Refusal 404 also while it is switched off */
async function getSource({ db }: Context, name: string): Promise<AuthSourceRow> {
  const source = name.includes('\0') ? undefined : await findSource(db, name)
  if (!source?.isActive) throw notFound('nobody signs in by this')
  return source
}

const countFlow = (context: Context, request: Request): Promise<void> =>
  spend(context, `provider:${networkOfOrigin(originOf(context, exchangeOf(request)))}`, FROM_NETWORK)

const flowPages = (context: Context) =>
  new Elysia({ name: 'provider-sign-in' })
    .use(pageGate(context))
    .get(
      '/user/oauth2/:name',
      async ({ params, query, request, actor }) => {
        const source = await getSource(context, params.name)
        const target = localTarget(context, query.redirect_to)
        // Nobody is signed in as somebody because a page of others wants it: a click here comes first.
        if (request.headers.get('sec-fetch-site') === 'cross-site')
          return seeOther(context, signInPath(target === undefined ? undefined : query.redirect_to))
        await countFlow(context, request)
        const { location, sealed } = await beginFlow(context, {
          source,
          isConnecting: query.connect !== undefined && actor?.session !== undefined,
          isAgain: query.prompt === 'login',
          redirectTo: target === undefined ? undefined : query.redirect_to,
        })
        const cookie = writeCookie(context, 'provider', sealed, FLOW_SECONDS)
        return sendTo(location, cookie)
      },
      {
        publicPage: anybody,
        query: t.Object({ redirect_to: formText(8192), prompt: formText(), connect: formText() }),
      },
    )
    .get(
      '/user/oauth2/:name/callback',
      async ({ params, request, actor }) => {
        const source = await getSource(context, params.name)
        const flow = openFlow(context, readCookie(context, request, 'provider'))
        if (flow?.sourceId !== source.id)
          throw badRequest('no sign-in by this was begun in this browser, or it took too long: begin again')
        await countFlow(context, request)
        const person = await readPerson(context, { source, flow }, new URL(request.url).search)
        return settle(context, request, { source, flow, person, actor })
      },
      { publicPage: anybody },
    )

interface Back {
  source: AuthSourceRow
  flow: Flow
  person: ExternalPerson
  actor: Actor | undefined
}

/** What comes next for somebody who came back: a session, the second factor, or the question which account is theirs. */
async function settle(context: Context, request: Request, { source, flow, person, actor }: Back): Promise<Response> {
  const origin = originOf(context, exchangeOf(request))
  const isSignedIn = actor?.session !== undefined
  const owner = await arrive(context, { source, person, origin, isSignedIn })
  if (owner && flow.isConnecting && isSignedIn) {
    const notice = owner.user.id === actor.user.id ? 'connected' : 'not_connected'
    return seeOther(context, `${CONNECTIONS_PATH}?done=${notice}`, [clearCookie(context, 'provider')])
  }
  const { redirectTo } = flow
  if (!owner) {
    const handle = await keepNewcomer(context, { source, person, redirectTo })
    const cookie = writeCookie(context, 'newcomer', handle, NEWCOMER_SECONDS)
    return seeOther(context, NEWCOMER_PATH, [cookie, clearCookie(context, 'provider')])
  }
  const { user, identityId } = owner
  requireUsableAccount(context, user, true)
  await context.signIns.signedIn(user, origin, 'provider')
  if (await hasTwoFactor(context, user.id)) {
    const pending = sealPending(context, { user, isRemembered: false, identityId })
    const cookies = [writeCookie(context, 'sign_in', pending, PENDING_SECONDS), clearCookie(context, 'provider')]
    return seeOther(context, secondFactorPath(context, redirectTo), cookies)
  }
  const { authenticatedAt } = person
  const proven = { user, method: 'provider', isRemembered: false, identityId, authenticatedAt, redirectTo } as const
  return beginSession(context, request, proven)
}

const NewcomerForm = t.Object({ ...formToken, user_name: formText(), email: formText() })

const newcomerPages = (context: Context) =>
  new Elysia({ name: 'provider-newcomers' })
    .use(pageGate(context))
    .get(
      NEWCOMER_PATH,
      async ({ request, actor }) => {
        const found = await findNewcomer(context, readCookie(context, request, 'newcomer'))
        return found ? newcomerPage(context, actor, { found }) : noNewcomerPage(context, actor)
      },
      { publicPage: anybody },
    )
    .post(
      `${NEWCOMER_PATH}_signup`,
      async ({ request, actor, body }) => {
        const found = await findNewcomer(context, readCookie(context, request, 'newcomer'))
        if (!found) return noNewcomerPage(context, actor)
        const origin = originOf(context, exchangeOf(request))
        const asked = { name: body.user_name?.trim() ?? '', email: body.email?.trim() ?? '', origin }
        let user: UserRow | undefined
        const problem = await tryForm(
          async () => {
            user = await registerNewcomer(context, found, asked)
          },
          ['email'],
          ({ message, field = '' }) => (field === 'email' || /mail/i.test(message) ? 'email' : 'user_name'),
        )
        if (!user) return newcomerPage(context, actor, { found, shown: body, ...(problem ? { problem } : {}) })
        await context.signIns.signedIn(user, origin, 'provider')
        const { authenticatedAt, redirectTo } = found.pending
        const proven = { user, method: 'provider', isRemembered: false, authenticatedAt } as const
        return beginSession(context, request, { ...proven, redirectTo: redirectTo ?? undefined })
      },
      { publicPage: anybody, body: NewcomerForm },
    )
    // Who signed in for this, by password and second factor or in any other way, says so once more.
    .get(`${NEWCOMER_PATH}_signin`, () => seeOther(context, signInAgainPath(addressOf(context, NEWCOMER_PATH))), {
      publicPage: anybody,
    })
    .post(
      `${NEWCOMER_PATH}_signin`,
      async ({ request, actor }) => {
        const found = await findNewcomer(context, readCookie(context, request, 'newcomer'))
        if (!found) return noNewcomerPage(context, actor)
        const problem = await tryForm(() => connect(context, actor, found))
        if (problem) return newcomerPage(context, actor, { found, problem })
        const target = localTarget(context, found.pending.redirectTo ?? undefined)
        return seeOther(context, target ?? `${CONNECTIONS_PATH}?done=connected`, [clearCookie(context, 'newcomer')])
      },
      { ownPage: { recently: true }, body: t.Object(formToken) },
    )

/** Signing in by another provider. */
export const providerPages = (context: Context) =>
  new Elysia({ name: 'provider-pages', detail: { hide: true } }).use(flowPages(context)).use(newcomerPages(context))

const sendTo = (location: string, cookie: string): Response =>
  new Response(null, { status: 303, headers: { location, 'cache-control': 'no-store', 'set-cookie': cookie } })
