import { Elysia, t } from 'elysia'
import type { SessionRow } from '../../../db/schema/sessions.ts'
import { clearCookie } from '../../auth/session-cookie.ts'
import { endSession, endSessions, listSessions } from '../../auth/sessions.ts'
import type { Context } from '../../context.ts'
import { notFound } from '../../kernel/errors.ts'
import { parseId } from '../../kernel/ids.ts'
import { browserName } from '../browser-name.ts'
import { form, formText, formToken } from '../form.ts'
import { type Html, html } from '../html.ts'
import { seeOther } from '../layout.ts'
import { pageGate, type SignedIn } from '../page-gate.ts'
import { pageLinks, pageNumber, pageOf } from '../page-links.ts'
import { timeOf } from '../time.ts'
import { donePath, settingsPage } from './settings-page.ts'

const PATH = '/user/settings/sessions'

/** The browsers that somebody is signed in with. Ending a session needs no recent sign-in: who is worried shall not have to wait. */
export const sessionPages = (context: Context) =>
  new Elysia({ name: 'settings-sessions' })
    .use(pageGate(context))
    .get(PATH, ({ actor, query }) => view(context, actor, query), {
      ownPage: { recently: false },
      query: t.Object({ ...pageNumber, done: formText() }),
    })
    .post(
      `${PATH}/:id/delete`,
      async ({ actor, params }) => {
        const id = parseId(params.id)
        if (id === undefined || !(await endSession(context.db, { userId: actor.user.id, id }))) throw notFound()
        const isOwn = id === actor.session.id
        return seeOther(
          context,
          isOwn ? '/' : donePath(PATH, 'removed'),
          isOwn ? [clearCookie(context, 'session')] : [],
        )
      },
      { ownPage: { recently: false }, body: t.Object(formToken) },
    )
    .post(
      `${PATH}/delete_others`,
      async ({ actor }) => {
        await endSessions(context.db, actor.user.id, actor.session)
        return seeOther(context, donePath(PATH, 'sessions'))
      },
      { ownPage: { recently: false }, body: t.Object(formToken) },
    )
    .post(
      `${PATH}/delete_all`,
      async ({ actor }) => {
        await endSessions(context.db, actor.user.id)
        return seeOther(context, '/user/login', [clearCookie(context, 'session')])
      },
      { ownPage: { recently: false }, body: t.Object(formToken) },
    )

interface Query {
  page?: string | undefined
  done?: string | undefined
}

async function view(context: Context, actor: SignedIn, query: Query): Promise<Response> {
  const { session } = actor
  const page = pageOf(query)
  const { rows, total } = await listSessions(context, actor.user.id, page)
  const main = html`<p>Browsers that are signed in to your account. What you do not know, sign out, and change the password.</p>
<ul class="list">${rows.map((row) => sessionRow(context, actor, row))}</ul>
${pageLinks(context, { path: PATH, label: 'Pages of sessions' }, { page, total })}
<div class="actions">
${form(context, { action: `${PATH}/delete_others`, session, submit: 'Sign out everywhere else' })}
${form(context, { action: `${PATH}/delete_all`, session, submit: 'Sign out everywhere', kind: 'danger' })}
</div>`
  return settingsPage(context, actor, { path: PATH, title: 'Sessions', main, done: query.done })
}

const methods: Readonly<Record<SessionRow['method'], string>> = {
  password: 'a password',
  two_factor: 'a password and a second factor',
  passkey: 'a passkey',
  provider: 'another provider',
}

function sessionRow(context: Context, { session }: SignedIn, row: SessionRow): Html {
  const isOwn = row.id === session.id
  const { address, userAgent } = isOwn ? session : row
  return html`<li class="row"><div><p>${isOwn && html`<strong>This browser.</strong> `}${browserName(userAgent)}</p>
<p class="hint">From ${address === '' ? 'an unknown address' : address}, signed in with ${methods[row.method]} ${timeOf(row.authenticatedAt)}, last seen ${timeOf(row.lastSeenAt)}</p></div>
${form(context, {
  action: `${PATH}/${row.id}/delete`,
  session,
  submit: 'Sign out',
  kind: 'plain',
  label: `Sign out the session of ${row.authenticatedAt.toISOString().slice(0, 16).replace('T', ' ')}`,
})}</li>
`
}
