import { Elysia, t } from 'elysia'
import type { UserRow } from '../../db/schema/users.ts'
import type { Actor } from '../auth/actor.ts'
import type { Context } from '../context.ts'
import { askForRecovery, findRecovery, RECOVERY_PATH, recover } from '../features/password-recovery/service.ts'
import { originOf } from '../http/admission.ts'
import { exchangeOf } from '../http/exchange.ts'
import { invalid } from '../kernel/errors.ts'
import { brokenLink } from './broken-link.ts'
import { type FormProblem, field, form, formText, formToken, hidden, problemNote, statusOf, tryForm } from './form.ts'
import { html } from './html.ts'
import { htmlPage, seeOther } from './layout.ts'
import { pageGate } from './page-gate.ts'

const PATH = '/user/forgot_password'
const MAX_PASSWORD = 1000

const anybody = { beforeSignIn: true }

/** Another password for who has forgotten it. */
export const recoveryPages = (context: Context) =>
  new Elysia({ name: 'recovery-pages', detail: { hide: true } })
    .use(pageGate(context))
    .get(PATH, ({ actor }) => askPage(context, actor), { publicPage: anybody })
    .post(
      PATH,
      async ({ body, actor, request }) => {
        const email = body.email?.trim() ?? ''
        const origin = originOf(context, exchangeOf(request))
        const problem = await tryForm(() => askForRecovery(context, email, origin), ['email'])
        return problem ? askPage(context, actor, { email, problem }) : mailedPage(context, actor, email)
      },
      { publicPage: anybody, body: t.Object({ ...formToken, email: formText() }) },
    )
    .get(
      RECOVERY_PATH,
      async ({ query, actor }) => {
        const user = await findRecovery(context, query.code)
        return user ? choicePage(context, actor, { user, code: query.code ?? '' }) : noLink(context, actor)
      },
      { publicPage: anybody, query: t.Object({ code: formText(8192) }) },
    )
    .post(
      RECOVERY_PATH,
      async ({ body, actor, request }) => {
        const { code = '', password = '', retype = password } = body
        const user = await findRecovery(context, code)
        if (!user) return noLink(context, actor)
        const origin = originOf(context, exchangeOf(request))
        const problem = await tryForm(
          async () => {
            if (password !== retype) throw invalid('is not the same as the first', 'retype')
            await recover(context, { user, code, origin }, password)
          },
          ['retype'],
          'password',
        )
        if (problem) return choicePage(context, actor, { user, code, problem })
        return seeOther(context, '/user/login?done=password')
      },
      {
        publicPage: anybody,
        body: t.Object({
          ...formToken,
          code: formText(),
          password: formText(MAX_PASSWORD),
          retype: formText(MAX_PASSWORD),
        }),
      },
    )

function askPage(
  context: Context,
  actor: Actor | undefined,
  { email, problem }: { email?: string; problem?: FormProblem } = {},
): Response {
  const fields = field({
    name: 'email',
    label: 'E-mail address',
    type: 'email',
    value: email,
    autocomplete: 'email',
    problem,
  })
  const action = { action: PATH, session: actor?.session, fields, submit: 'Mail me a link' }
  return htmlPage(context, actor, {
    title: 'Forgotten password',
    width: 'narrow',
    ...statusOf(problem),
    main: html`<h1>Forgotten password</h1>
${problem?.field === undefined && problemNote(problem)}
${
  context.mailer === undefined
    ? html`<p>This site mails nothing. An administrator can give you another password.</p>`
    : html`<p>A link by which you choose another password is mailed to a confirmed address of your account.</p>${form(context, action)}`
}`,
  })
}

const mailedPage = (context: Context, actor: Actor | undefined, email: string): Response =>
  htmlPage(context, actor, {
    title: 'Look into your mail',
    width: 'narrow',
    main: html`<h1>Look into your mail</h1>
<p>If <strong>${email}</strong> belongs to an account, a link is on its way to it.</p>`,
  })

interface Choice {
  user: UserRow
  code: string
  problem?: FormProblem
}

function choicePage(context: Context, actor: Actor | undefined, { user, code, problem }: Choice): Response {
  const secret = { type: 'password', autocomplete: 'new-password', problem } as const
  const fields = html`${hidden('code', code)}
${field({ ...secret, name: 'password', label: 'New password', hint: `At least ${context.config.passwordMinLength} characters.` })}
${field({ ...secret, name: 'retype', label: 'New password again' })}`
  return htmlPage(context, actor, {
    title: 'Choose another password',
    width: 'narrow',
    ...statusOf(problem),
    main: html`<h1>Choose another password</h1>
<p>For the account <strong>${user.name}</strong>. All its sessions end with it.</p>
${problem?.field === undefined && problemNote(problem)}
${form(context, { action: RECOVERY_PATH, session: actor?.session, fields, submit: 'Change the password' })}`,
  })
}

const noLink = (context: Context, actor: Actor | undefined): Response =>
  htmlPage(context, actor, brokenLink('Ask for a new one.'))
