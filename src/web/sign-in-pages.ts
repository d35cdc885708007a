import { Elysia, t } from 'elysia'
import type { UserRow } from '../../db/schema/users.ts'
import type { Actor } from '../auth/actor.ts'
import { requireUsableAccount } from '../auth/authenticate.ts'
import { findLogin } from '../auth/basic.ts'
import { checkCode, judgePassword } from '../auth/check-password.ts'
import { openPending, PENDING_SECONDS, sealPending } from '../auth/pending-sign-in.ts'
import { clearCookie, readCookie, writeCookie } from '../auth/session-cookie.ts'
import { endSession } from '../auth/sessions.ts'
import { hasTwoFactor } from '../auth/two-factor.ts'
import type { Context } from '../context.ts'
import { judgePasskey } from '../features/passkeys/service.ts'
import { originOf } from '../http/admission.ts'
import { exchangeOf } from '../http/exchange.ts'
import { beginSession } from './begin-session.ts'
import { type FormProblem, formText, formTick, formToken, problemOf, tryForm } from './form.ts'
import { seeOther } from './layout.ts'
import { pageGate } from './page-gate.ts'
import { localTarget } from './paths.ts'
import { secondFactorPage, signInPage, signOutPage } from './sign-in-views.ts'

/** Long enough for the address of any page of ours. */
const redirectTo = { redirect_to: formText(8192) }

const SignInForm = t.Object({
  ...formToken,
  ...redirectTo,
  user_name: formText(),
  password: formText(1000),
  passcode: formText(64),
  remember: formTick(),
})

/** Wire: the fields of `/user/login` are Gitea's; programs fill them in. */
const passwordPages = (context: Context) =>
  new Elysia({ name: 'sign-in' })
    .use(pageGate(context))
    .get(
      '/user/login',
      ({ query, actor }) => {
        // Who has to show again who they are, sees the form also while signed in.
        if (actor && query.prompt !== 'login') return seeOther(context, localTarget(context, query.redirect_to) ?? '/')
        const hasNewPassword = query.done === 'password'
        return signInPage(context, actor, { name: query.user_name, redirectTo: query.redirect_to, hasNewPassword })
      },
      {
        publicPage: { beforeSignIn: true },
        query: t.Object({ ...redirectTo, prompt: formText(), user_name: formText(), done: formText() }),
      },
    )
    .post('/user/login', ({ body, query, request, actor }) => signIn(context, { request, actor, body, query }), {
      publicPage: { beforeSignIn: true },
      body: SignInForm,
      query: t.Object(redirectTo),
    })

interface SignInRequest {
  request: Request
  actor: Actor | undefined
  body: typeof SignInForm.static
  query: { redirect_to?: string | undefined }
}

async function signIn(context: Context, { request, actor, body, query }: SignInRequest): Promise<Response> {
  const name = body.user_name?.trim() ?? ''
  const target = body.redirect_to ?? query.redirect_to
  const again = (problem: FormProblem, asksCode = false) =>
    signInPage(context, actor, { name, redirectTo: target, isRemembered: body.remember, problem, asksCode })
  const password = body.password ?? ''
  if (name === '' || password === '') return again({ status: 422, message: 'Enter your user name and your password' })
  const user = await findLogin(context, name)
  const code = body.passcode?.trim() || undefined
  const origin = originOf(context, exchangeOf(request))
  try {
    const verdict = await judgePassword(context, { user, name, password, code, origin })
    if (verdict.outcome === 'wrong') return again({ status: 422, message: 'The user name or the password is wrong' })
    const proven = { user: verdict.user, isRemembered: body.remember === true }
    requireUsableAccount(context, proven.user, true)
    if (verdict.outcome === 'right') {
      // Without a second factor a code is not looked at.
      const method = code !== undefined && (await hasTwoFactor(context, proven.user.id)) ? 'two_factor' : 'password'
      return await beginSession(context, request, { ...proven, method, redirectTo: target })
    }
    const pending = writeCookie(context, 'sign_in', sealPending(context, proven), PENDING_SECONDS)
    return seeOther(context, secondFactorPath(context, target), [pending])
  } catch (error) {
    const problem = problemOf(error)
    // While passwords have to wait, password and code together pass: strangers who guess lock nobody out.
    if (problem.status === 429) return again(problem, true)
    throw error
  }
}

/** Where the second factor is asked for, on the way to where somebody was going. */
export function secondFactorPath(context: Context, target: string | undefined): string {
  const isLocal = localTarget(context, target) !== undefined
  return isLocal ? `/user/two_factor?redirect_to=${encodeURIComponent(target ?? '')}` : '/user/two_factor'
}

const secondFactorPages = (context: Context) =>
  new Elysia({ name: 'second-factor' })
    .use(pageGate(context))
    .get(
      '/user/two_factor',
      async ({ query, request, actor }) => {
        const pending = await openPending(context, readCookie(context, request, 'sign_in'))
        if (!pending) return seeOther(context, '/user/login', [clearCookie(context, 'sign_in')])
        return secondFactorPage(context, actor, { redirectTo: query.redirect_to })
      },
      { publicPage: { beforeSignIn: true }, query: t.Object(redirectTo) },
    )
    .post(
      '/user/two_factor',
      async ({ body, request, actor }) => {
        const pending = await openPending(context, readCookie(context, request, 'sign_in'))
        if (!pending) return seeOther(context, '/user/login', [clearCookie(context, 'sign_in')])
        const { user, isRemembered, identityId } = pending
        const again = (problem: FormProblem) =>
          secondFactorPage(context, actor, { redirectTo: body.redirect_to, problem })
        const code = body.passcode?.trim() ?? ''
        if (code === '') return again({ status: 422, field: 'passcode', message: 'Enter a code' })
        const origin = originOf(context, exchangeOf(request))
        try {
          if (!(await checkCode(context, { user, name: user.name, origin, code })))
            return again({ status: 422, field: 'passcode', message: 'This code is wrong, or was used already' })
        } catch (error) {
          return again(problemOf(error))
        }
        const proven = { user, method: 'two_factor', isRemembered, identityId, redirectTo: body.redirect_to } as const
        return beginSession(context, request, proven)
      },
      { publicPage: { beforeSignIn: true }, body: t.Object({ ...formToken, ...redirectTo, passcode: formText(64) }) },
    )

const passkeyPages = (context: Context) =>
  new Elysia({ name: 'passkey-sign-in' }).use(pageGate(context)).post(
    '/user/login/passkey',
    async ({ body, request, actor }) => {
      let user: UserRow | undefined
      const problem = await tryForm(async () => {
        user = await judgePasskey(context, body.credential ?? '')
      })
      if (!user) return signInPage(context, actor, { redirectTo: body.redirect_to, ...(problem ? { problem } : {}) })
      const proven = { user, method: 'passkey', isRemembered: false, redirectTo: body.redirect_to } as const
      return beginSession(context, request, proven)
    },
    {
      publicPage: { beforeSignIn: true },
      body: t.Object({ ...formToken, ...redirectTo, credential: formText(60_000) }),
    },
  )

const signOutPages = (context: Context) =>
  new Elysia({ name: 'sign-out' })
    .use(pageGate(context))
    .get(
      '/user/logout',
      ({ actor }) => (actor ? signOutPage(context, actor) : seeOther(context, '/', [clearCookie(context, 'session')])),
      { publicPage: { beforeSignIn: true } },
    )
    .post(
      '/user/logout',
      async ({ actor }) => {
        if (actor?.session) await endSession(context.db, actor.session)
        return seeOther(context, '/', [clearCookie(context, 'session'), clearCookie(context, 'sign_in')])
      },
      { publicPage: { beforeSignIn: true }, body: t.Object(formToken) },
    )

/** Signing in, with a password and a second factor or with a passkey, and out again. */
export const signInPages = (context: Context) =>
  new Elysia({ name: 'sign-in-pages', detail: { hide: true } })
    .use(passwordPages(context))
    .use(secondFactorPages(context))
    .use(passkeyPages(context))
    .use(signOutPages(context))
