import { Elysia, t } from 'elysia'
import type { Context } from '../context.ts'
import { CONFIRMATION_PATH, confirmEmail, findConfirmation } from '../features/emails/confirm.ts'
import type { WaitingEmail } from '../features/emails/confirmations.ts'
import { gate } from '../http/gate.ts'
import { escapeHtml } from '../kernel/html.ts'
import { htmlPage } from './page.ts'

const code = t.Optional(t.String())

/**
 * Where a link in a mail leads. Opening it shows a button and changes nothing: programs that look through mails open every link. Every
 * link that does not work is answered with the same page.
 */
export const confirmEmailPage = (context: Context) =>
  new Elysia({ name: 'confirm-email', detail: { hide: true } })
    .use(gate(context))
    .get(
      CONFIRMATION_PATH,
      async ({ query, actor }) => {
        const waiting = await findConfirmation(context, query.code, actor)
        return waiting === undefined ? noLink() : question(context.baseUrl, waiting, query.code ?? '')
      },
      { open: { beforeSignIn: true }, query: t.Object({ code }) },
    )
    .post(
      CONFIRMATION_PATH,
      async ({ body, actor }) => {
        const done = await confirmEmail(context, body.code, actor)
        if (done.outcome === 'no link') return noLink()
        return done.outcome === 'confirmed' ? confirmed(done.waiting) : inUse(done.waiting)
      },
      { open: { beforeSignIn: true }, body: t.Object({ code }) },
    )

function question(baseUrl: string, { email, owner }: WaitingEmail, code: string): Response {
  const address = escapeHtml(email.email)
  const action = escapeHtml(new URL(`${baseUrl}${CONFIRMATION_PATH}`).pathname)
  return htmlPage({
    title: 'Confirm an e-mail address',
    main: `<h1>Confirm an e-mail address</h1>
<p>The account <strong>${escapeHtml(owner.name)}</strong> wants to use <strong>${address}</strong>.</p>
<p>If that account is not yours, close this page.</p>
<form method="post" action="${action}">
<input type="hidden" name="code" value="${escapeHtml(code)}">
<button type="submit">Yes, ${address} is mine and so is the account</button>
</form>`,
  })
}

const confirmed = ({ email, owner }: WaitingEmail): Response =>
  htmlPage({
    title: 'Address confirmed',
    main: `<h1>Address confirmed</h1>
<p><strong>${escapeHtml(email.email)}</strong> belongs to the account <strong>${escapeHtml(owner.name)}</strong> now.</p>`,
  })

const inUse = ({ email }: WaitingEmail): Response =>
  htmlPage({
    status: 409,
    title: 'Address in use',
    main: `<h1>Address in use</h1>
<p><strong>${escapeHtml(email.email)}</strong> belongs to another account. Remove it there first.</p>`,
  })

const noLink = (): Response =>
  htmlPage({
    status: 404,
    title: 'This link does not work',
    main: `<h1>This link does not work</h1>
<p>It was used already, is too old, or is not whole, or you are signed in to another account. Add the address again to get a new one.</p>`,
  })
