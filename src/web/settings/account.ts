import { Elysia, t } from 'elysia'
import type { EmailRow } from '../../../db/schema/users.ts'
import type { Context } from '../../context.ts'
import { setPrimaryEmail } from '../../features/emails/primary.ts'
import { addEmails, deleteEmails } from '../../features/emails/service.ts'
import { listEmails } from '../../features/emails/store.ts'
import { renameAccount } from '../../features/users/rename.ts'
import { type FormProblem, field, form, formText, formToken, hidden, tryForm } from '../form.ts'
import { type Html, html } from '../html.ts'
import { seeOther } from '../layout.ts'
import { pageGate, type SignedIn } from '../page-gate.ts'
import { type Page, pageLinks, pageNumber, pageOf } from '../page-links.ts'
import { donePath, settingsPage } from './settings-page.ts'

const PATH = '/user/settings/account'

/** The name of the account and its addresses. */
export const accountPages = (context: Context) =>
  new Elysia({ name: 'settings-account' })
    .use(pageGate(context))
    .get(PATH, ({ actor, query }) => view(context, actor, { page: pageOf(query), done: query.done }), {
      ownPage: { recently: true },
      query: t.Object({ ...pageNumber, done: formText() }),
    })
    .post(
      `${PATH}/name`,
      async ({ actor, body }) => {
        const newName = body.new_name?.trim() ?? ''
        const problem = await tryForm(() => renameAccount(context, actor.user, { newName, by: actor }), [], 'new_name')
        return problem ? view(context, actor, { newName, problem }) : seeOther(context, donePath(PATH, 'renamed'))
      },
      { ownPage: { recently: true }, body: t.Object({ ...formToken, new_name: formText() }) },
    )
    .post(
      `${PATH}/emails`,
      async ({ actor, body }) => {
        const email = body.email?.trim() ?? ''
        const problem = await tryForm(() => addEmails(context, actor, [email]), [], 'email')
        if (problem) return view(context, actor, { email, problem })
        return seeOther(context, donePath(PATH, context.config.confirmEmails ? 'mailed' : 'added'))
      },
      { ownPage: { recently: true }, body: t.Object({ ...formToken, email: formText() }) },
    )
    .post(
      `${PATH}/emails/primary`,
      async ({ actor, body }) => {
        const problem = await tryForm(() => setPrimaryEmail(context, actor, body.email ?? ''))
        return problem ? view(context, actor, { problem }) : seeOther(context, donePath(PATH, 'saved'))
      },
      { ownPage: { recently: true }, body: t.Object({ ...formToken, email: formText() }) },
    )
    .post(
      `${PATH}/emails/delete`,
      async ({ actor, body }) => {
        const problem = await tryForm(() => deleteEmails(context, actor, [body.email ?? '']))
        return problem ? view(context, actor, { problem }) : seeOther(context, donePath(PATH, 'removed'))
      },
      { ownPage: { recently: true }, body: t.Object({ ...formToken, email: formText() }) },
    )

interface View {
  page?: Page
  done?: string | undefined
  problem?: FormProblem | undefined
  newName?: string
  email?: string
}

async function view(
  context: Context,
  actor: SignedIn,
  { page = pageOf({}), done, problem, newName, email }: View,
): Promise<Response> {
  const { session, user } = actor
  const all = await listEmails(context.db, user.id)
  const rows = all.slice(page.offset, page.offset + page.limit)
  const main = html`<h2>E-mail addresses</h2>
<ul class="list">${rows.map((row) => addressRow(context, actor, row))}</ul>
${pageLinks(context, { path: PATH, label: 'Pages of addresses' }, { page, total: all.length })}
${form(context, {
  action: `${PATH}/emails`,
  session,
  fields: field({
    name: 'email',
    label: 'Another address',
    type: 'email',
    value: email,
    autocomplete: 'email',
    problem,
  }),
  submit: 'Add',
})}
<h2>User name</h2>
${form(context, {
  action: `${PATH}/name`,
  session,
  fields: field({
    name: 'new_name',
    label: 'New name',
    value: newName ?? user.name,
    autocomplete: 'username',
    hint: 'Addresses of your repositories change with it. The old ones lead on until somebody else takes the old name.',
    problem,
  }),
  submit: 'Rename',
})}`
  return settingsPage(context, actor, { path: PATH, title: 'Account', main, done, problem })
}

function addressRow(context: Context, { session }: SignedIn, { email, isPrimary, isActivated }: EmailRow): Html {
  const fields = hidden('email', email)
  const button = { session, fields, kind: 'plain' } as const
  return html`<li class="row"><div><p><strong>${email}</strong></p>
<p class="hint">${isPrimary ? 'Primary: mails about the account go here' : isActivated ? 'Confirmed' : 'Waits for the link that was mailed to it'}</p></div>
${
  !isPrimary &&
  html`<div class="actions">${
    isActivated &&
    form(context, {
      ...button,
      action: `${PATH}/emails/primary`,
      submit: 'Make primary',
      label: `Make primary: ${email}`,
    })
  }${form(context, { ...button, action: `${PATH}/emails/delete`, submit: 'Remove', label: `Remove ${email}` })}</div>`
}</li>
`
}
