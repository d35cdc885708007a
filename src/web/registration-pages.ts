import { Elysia, t } from 'elysia'
import type { RegistrationRow } from '../../db/schema/account-links.ts'
import type { UserRow } from '../../db/schema/users.ts'
import type { Actor } from '../auth/actor.ts'
import type { Context } from '../context.ts'
import { ACTIVATION_PATH, activate, findAsked, register } from '../features/registration/service.ts'
import { originOf } from '../http/admission.ts'
import { exchangeOf } from '../http/exchange.ts'
import { invalid } from '../kernel/errors.ts'
import { beginSession } from './begin-session.ts'
import { brokenLink } from './broken-link.ts'
import { type FormProblem, field, form, formText, formToken, hidden, problemNote, statusOf, tryForm } from './form.ts'
import { html } from './html.ts'
import { htmlPage, seeOther } from './layout.ts'
import { pageGate } from './page-gate.ts'

const PATH = '/user/sign_up'
const MAX_PASSWORD = 1000

const SignUpForm = t.Object({
  ...formToken,
  user_name: formText(),
  email: formText(),
  password: formText(MAX_PASSWORD),
  retype: formText(MAX_PASSWORD),
})
type SignUpForm = typeof SignUpForm.static

const ActivationForm = t.Object({ ...formToken, code: formText(), password: formText(MAX_PASSWORD) })

const anybody = { beforeSignIn: true }

const signUpPages = (context: Context) =>
  new Elysia({ name: 'sign-up' })
    .use(pageGate(context))
    .get(PATH, ({ actor }) => (actor ? seeOther(context, '/') : signUpPage(context, {})), { publicPage: anybody })
    .post(
      PATH,
      async ({ body, request }) => {
        let made: UserRow | undefined
        const problem = await tryForm(
          async () => {
            made = await signUp(context, request, body)
          },
          ['email', 'password', 'retype'],
          fieldOf,
        )
        if (problem) return signUpPage(context, { shown: body, problem })
        if (made === undefined) return mailedPage(context, body.email ?? '')
        const proven = { user: made, method: 'password', isRemembered: false, redirectTo: undefined } as const
        return beginSession(context, request, proven)
      },
      { publicPage: anybody, body: SignUpForm },
    )

/** The rules of accounts call a field otherwise, or name none: then the words say which it is. */
function fieldOf({ field: named = '', message }: FormProblem): string | undefined {
  if (named === 'username') return 'user_name'
  if (/password/i.test(message)) return 'password'
  if (/mail/i.test(message)) return 'email'
  return /user|name/i.test(message) ? 'user_name' : undefined
}

function signUp(context: Context, request: Request, body: SignUpForm): Promise<UserRow | undefined> {
  const { user_name = '', email = '', password = '', retype = password } = body
  if (password !== retype) throw invalid('is not the same as the first', 'retype')
  const person = { name: user_name.trim(), email: email.trim(), password }
  return register(context, person, originOf(context, exchangeOf(request)))
}

function signUpPage(context: Context, { shown, problem }: { shown?: SignUpForm; problem?: FormProblem }): Response {
  if (!context.config.allowRegistration)
    return htmlPage(context, undefined, {
      title: 'Make an account',
      width: 'narrow',
      status: 403,
      main: html`<h1>Make an account</h1>
<p>Accounts are made by the administrators of this site.</p>`,
    })
  const secret = { type: 'password', autocomplete: 'new-password', problem } as const
  const fields = html`
${field({ name: 'user_name', label: 'User name', value: shown?.user_name, autocomplete: 'username', maxLength: 40, problem })}
${field({ name: 'email', label: 'E-mail address', type: 'email', value: shown?.email, autocomplete: 'email', problem })}
${field({ ...secret, name: 'password', label: 'Password', hint: `At least ${context.config.passwordMinLength} characters.` })}
${field({ ...secret, name: 'retype', label: 'Password again' })}`
  return htmlPage(context, undefined, {
    title: 'Make an account',
    width: 'narrow',
    ...statusOf(problem),
    main: html`<h1>Make an account</h1>
${problem?.field === undefined && problemNote(problem)}
${form(context, { action: PATH, session: undefined, fields, submit: 'Make the account' })}`,
  })
}

const mailedPage = (context: Context, email: string): Response =>
  htmlPage(context, undefined, {
    title: 'One step is left',
    width: 'narrow',
    main: html`<h1>One step is left</h1>
<p>A mail is on its way to <strong>${email}</strong>. Follow the link in it to finish.</p>
<p class="hint">It works for ${context.config.emailConfirmationHours} hours.</p>`,
  })

const activationPages = (context: Context) =>
  new Elysia({ name: 'activation' })
    .use(pageGate(context))
    .get(
      ACTIVATION_PATH,
      async ({ query, actor }) => {
        const asked = await findAsked(context, query.code)
        return asked ? activationPage(context, actor, { asked, code: query.code }) : noLink(context, actor)
      },
      { publicPage: anybody, query: t.Object({ code: formText(8192) }) },
    )
    .post(
      ACTIVATION_PATH,
      async ({ body, actor, request }) => {
        const asked = await findAsked(context, body.code)
        if (!asked) return noLink(context, actor)
        let made: UserRow | undefined
        const problem = await tryForm(async () => {
          made = await activate(context, asked, body.password ?? '')
        }, ['password'])
        if (!made) return activationPage(context, actor, { asked, code: body.code, problem })
        const proven = { user: made, method: 'password', isRemembered: false, redirectTo: undefined } as const
        return beginSession(context, request, proven)
      },
      { publicPage: anybody, body: ActivationForm },
    )

interface Activation {
  asked: RegistrationRow
  code: string | undefined
  problem?: FormProblem | undefined
}

function activationPage(context: Context, actor: Actor | undefined, { asked, code, problem }: Activation): Response {
  const fields = html`${hidden('code', code ?? '')}
${field({ name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password', hint: 'The one that you chose when you asked for the account.', problem })}`
  return htmlPage(context, actor, {
    title: 'Confirm your account',
    width: 'narrow',
    ...statusOf(problem),
    main: html`<h1>Confirm your account</h1>
<p>The account <strong>${asked.name}</strong> is made with the address <strong>${asked.email}</strong>. If you did not ask for it, close this page.</p>
${problem?.field === undefined && problemNote(problem)}
${form(context, { action: ACTIVATION_PATH, session: actor?.session, fields, submit: 'Make the account' })}`,
  })
}

const noLink = (context: Context, actor: Actor | undefined): Response =>
  htmlPage(context, actor, brokenLink('Ask for the account again to get a new one.'))

/** Making an account for oneself. */
export const registrationPages = (context: Context) =>
  new Elysia({ name: 'registration-pages', detail: { hide: true } })
    .use(signUpPages(context))
    .use(activationPages(context))
