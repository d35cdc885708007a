import { Elysia, t } from 'elysia'
import { judgePassword } from '../../auth/check-password.ts'
import { sessionCookie } from '../../auth/session-cookie.ts'
import { rotateSession } from '../../auth/sessions.ts'
import type { Context } from '../../context.ts'
import { changeOwnPassword } from '../../features/users/password.ts'
import { originOf } from '../../http/admission.ts'
import { exchangeOf } from '../../http/exchange.ts'
import { invalid } from '../../kernel/errors.ts'
import { type FormProblem, field, form, formText, formToken, tryForm } from '../form.ts'
import { html } from '../html.ts'
import { seeOther } from '../layout.ts'
import { CHANGE_PASSWORD_PATH, pageGate, requireRecentSignIn, type SignedIn } from '../page-gate.ts'
import { donePath, settingsPage } from './settings-page.ts'

const MAX_LENGTH = 1000

const PasswordForm = t.Object({
  ...formToken,
  old_password: formText(MAX_LENGTH),
  password: formText(MAX_LENGTH),
  retype: formText(MAX_LENGTH),
})

/** Another password; also for an account that can do nothing else before it has one of its own. */
export const passwordPages = (context: Context) =>
  new Elysia({ name: 'settings-password' })
    .use(pageGate(context))
    .get(
      CHANGE_PASSWORD_PATH,
      ({ actor, query, request }) => {
        requireProof(context, request, actor)
        return view(context, actor, { done: query.done })
      },
      { ownPage: { recently: false, mayChangePassword: true }, query: t.Object({ done: formText() }) },
    )
    .post(
      CHANGE_PASSWORD_PATH,
      async ({ actor, body, request }) => {
        requireProof(context, request, actor)
        const problem = await tryForm(
          () => change(context, request, { actor, body }),
          ['old_password', 'retype'],
          'password',
        )
        if (problem) return view(context, actor, { problem })
        const rotated = await rotateSession(context, actor.session)
        const cookies = rotated ? [sessionCookie(context, rotated)] : []
        return seeOther(context, donePath(CHANGE_PASSWORD_PATH, 'password'), cookies)
      },
      { ownPage: { recently: false, mayChangePassword: true }, body: PasswordForm },
    )

/** Who has no password yet cannot show the old one: then a sign-in of the last hour has to do. */
function requireProof(context: Context, request: Request, { user, session }: SignedIn): void {
  if (user.passwordHash === '') requireRecentSignIn(context, request, session)
}

interface Change {
  actor: SignedIn
  body: typeof PasswordForm.static
}

async function change(context: Context, request: Request, { actor, body }: Change): Promise<void> {
  const { user } = actor
  const password = body.password ?? ''
  if (password !== (body.retype ?? password)) throw invalid('is not the same as the first', 'retype')
  // Who was given a password has just signed in with it.
  if (asksOld(actor)) {
    const origin = originOf(context, exchangeOf(request))
    const attempt = { user, name: user.name, password: body.old_password ?? '', code: undefined, origin }
    const { outcome } = await judgePassword(context, attempt)
    if (outcome === 'wrong') throw invalid('is wrong', 'old_password')
  }
  await changeOwnPassword(context, actor, password)
}

const asksOld = ({ user }: SignedIn): boolean => user.passwordHash !== '' && !user.mustChangePassword

function view(
  context: Context,
  actor: SignedIn,
  { done, problem }: { done?: string | undefined; problem?: FormProblem },
): Response {
  const fields = html`
${
  asksOld(actor) &&
  field({
    name: 'old_password',
    label: 'Present password',
    type: 'password',
    autocomplete: 'current-password',
    problem,
  })
}
${field({
  name: 'password',
  label: 'New password',
  type: 'password',
  autocomplete: 'new-password',
  hint: `At least ${context.config.passwordMinLength} characters, and none of those that are guessed first.`,
  problem,
})}
${field({ name: 'retype', label: 'New password again', type: 'password', autocomplete: 'new-password', problem })}`
  const main = html`${actor.user.mustChangePassword && html`<p>Choose a password of your own before you go on.</p>`}
${form(context, { action: CHANGE_PASSWORD_PATH, session: actor.session, fields, submit: 'Change the password' })}
<p class="hint">All other sessions end with it. Access tokens and keys stay.</p>`
  return settingsPage(context, actor, { path: CHANGE_PASSWORD_PATH, title: 'Password', main, done, problem })
}
