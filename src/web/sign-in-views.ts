import type { Actor } from '../auth/actor.ts'
import type { Context } from '../context.ts'
import { requestOptions } from '../features/passkeys/service.ts'
import { passkeyScript } from './assets.ts'
import { checkbox, type FormProblem, field, form, hidden, problemNote, statusOf } from './form.ts'
import { type Html, html } from './html.ts'
import { htmlPage } from './layout.ts'
import { passkeyForm } from './passkey-form.ts'
import { addressOf, localTarget } from './paths.ts'
import { providerButtons } from './provider-views.ts'

interface SignInView {
  name?: string | undefined
  redirectTo: string | undefined
  isRemembered?: boolean | undefined
  problem?: FormProblem
  /** Whether somebody was sent here with another password. */
  hasNewPassword?: boolean
  /** Whether the code is asked for together with the password. */
  asksCode?: boolean
}

export async function signInPage(context: Context, actor: Actor | undefined, view: SignInView): Promise<Response> {
  const { name, redirectTo, isRemembered, problem, asksCode, hasNewPassword } = view
  const fields = html`${redirectField(context, redirectTo)}
${field({ name: 'user_name', label: 'User name or e-mail address', value: name, autocomplete: 'username', isRequired: true })}
${field({ name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password', isRequired: true })}
${asksCode && codeField('Only if two-factor authentication is on: with its code you need not wait.')}
${checkbox({ name: 'remember', label: 'Stay signed in on this device', isTicked: isRemembered })}`
  // Who sees this page while signed in has to show again who they are.
  const target = localTarget(context, redirectTo) === undefined ? undefined : redirectTo
  const providers = await providerButtons(context, { redirectTo: target, again: actor !== undefined })
  return htmlPage(context, actor, {
    title: 'Sign in',
    width: 'narrow',
    script: passkeyScript.path,
    ...statusOf(problem),
    formsLeadAway: leadsToApplication(context, redirectTo),
    main: html`<h1>Sign in</h1>
${problemNote(problem)}
${hasNewPassword && html`<div class="note good" role="status"><p>The password is changed. Sign in with it.</p></div>`}
${form(context, { action: '/user/login', session: actor?.session, fields, submit: 'Sign in' })}
${passkeySignIn(context, actor, redirectTo)}
${providers}
<ul class="plain">
${context.mailer && html`<li><a href="${addressOf(context, '/user/forgot_password')}">Forgotten the password?</a></li>`}
${context.config.allowRegistration && html`<li><a href="${addressOf(context, '/user/sign_up')}">Make an account</a></li>`}
</ul>`,
  })
}

interface SecondFactorView {
  redirectTo: string | undefined
  problem?: FormProblem
}

export function secondFactorPage(context: Context, actor: Actor | undefined, view: SecondFactorView): Response {
  const { redirectTo, problem } = view
  const fields = html`${redirectField(context, redirectTo)}
${codeField('The six digits that your authenticator shows now, or one of your recovery codes.', problem)}`
  return htmlPage(context, actor, {
    title: 'Second factor',
    width: 'narrow',
    script: passkeyScript.path,
    ...statusOf(problem),
    formsLeadAway: leadsToApplication(context, redirectTo),
    main: html`<h1>Second factor</h1>
${problem?.field === undefined && problemNote(problem)}
${form(context, { action: '/user/two_factor', session: actor?.session, fields, submit: 'Sign in' })}
${passkeySignIn(context, actor, redirectTo)}`,
  })
}

export const signOutPage = (context: Context, actor: Actor): Response =>
  htmlPage(context, actor, {
    title: 'Sign out',
    width: 'narrow',
    main: html`<h1>Sign out</h1>
<p>You are signed in as <strong>${actor.user.name}</strong>.</p>
${form(context, { action: '/user/logout', session: actor.session, submit: 'Sign out of this browser' })}`,
  })

/** In place of name, password and code. */
const passkeySignIn = (context: Context, actor: Actor | undefined, redirectTo: string | undefined): Html =>
  passkeyForm(context, {
    action: '/user/login/passkey',
    session: actor?.session,
    fields: redirectField(context, redirectTo),
    submit: 'Sign in with a passkey',
    kind: 'plain',
    asks: 'get',
    options: requestOptions(context),
  })

const codeField = (hint: string, problem?: FormProblem): Html =>
  field({
    name: 'passcode',
    label: 'Code',
    hint,
    problem,
    autocomplete: 'one-time-code',
    maxLength: 64,
    isRequired: problem !== undefined,
  })

/** What leads elsewhere is forgotten here already. */
const redirectField = (context: Context, redirectTo: string | undefined): Html | false =>
  localTarget(context, redirectTo) !== undefined && hidden('redirect_to', redirectTo ?? '')

/** After the sign-in the browser may be sent on to an application that asked for it. */
const leadsToApplication = (context: Context, redirectTo: string | undefined): boolean =>
  localTarget(context, redirectTo)?.startsWith('/login/oauth/') === true
