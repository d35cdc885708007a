import { Elysia, t } from 'elysia'
import type { Actor } from '../auth/actor.ts'
import type { Context } from '../context.ts'
import { CONFIRMATION_PATH, confirmEmail, findConfirmation } from '../features/emails/confirm.ts'
import type { WaitingEmail } from '../features/emails/confirmations.ts'
import { brokenLink } from './broken-link.ts'
import { form, formToken, hidden } from './form.ts'
import { html } from './html.ts'
import { htmlPage, type Page } from './layout.ts'
import { pageGate } from './page-gate.ts'

const code = t.Optional(t.String())

/**
 * Where a link in a mail leads. Opening it shows a button and changes nothing: programs that look through mails open every link. Every
 * link that does not work is answered with the same page.
 */
export const confirmEmailPage = (context: Context) =>
  new Elysia({ name: 'confirm-email', detail: { hide: true } })
    .use(pageGate(context))
    .get(
      CONFIRMATION_PATH,
      async ({ query, actor }) => {
        const waiting = await findConfirmation(context, query.code, actor)
        const page = waiting === undefined ? noLink : question(context, actor, { waiting, code: query.code ?? '' })
        return htmlPage(context, actor, page)
      },
      { publicPage: { beforeSignIn: true }, query: t.Object({ code }) },
    )
    .post(
      CONFIRMATION_PATH,
      async ({ body, actor }) => {
        const done = await confirmEmail(context, body.code, actor)
        if (done.outcome === 'no link') return htmlPage(context, actor, noLink)
        const page = done.outcome === 'confirmed' ? confirmed(done.waiting) : inUse(done.waiting)
        return htmlPage(context, actor, page)
      },
      { publicPage: { beforeSignIn: true }, body: t.Object({ ...formToken, code }) },
    )

interface Question {
  waiting: WaitingEmail
  code: string
}

function question(context: Context, actor: Actor | undefined, { waiting, code }: Question): Page {
  const { email, owner } = waiting
  return {
    title: 'Confirm an e-mail address',
    main: html`<h1>Confirm an e-mail address</h1>
<p>The account <strong>${owner.name}</strong> wants to use <strong>${email.email}</strong>.</p>
<p>If that account is not yours, close this page.</p>
${form(context, {
  action: CONFIRMATION_PATH,
  session: actor?.session,
  fields: hidden('code', code),
  submit: `Yes, ${email.email} is mine and so is the account`,
})}`,
  }
}

const confirmed = ({ email, owner }: WaitingEmail): Page => ({
  title: 'Address confirmed',
  main: html`<h1>Address confirmed</h1>
<p><strong>${email.email}</strong> belongs to the account <strong>${owner.name}</strong> now.</p>`,
})

const inUse = ({ email }: WaitingEmail): Page => ({
  status: 409,
  title: 'Address in use',
  main: html`<h1>Address in use</h1>
<p><strong>${email.email}</strong> belongs to another account. Remove it there first.</p>`,
})

const noLink = brokenLink(
  'You may also be signed in to another account than the one that it is for. Add the address again to get a new one.',
)
