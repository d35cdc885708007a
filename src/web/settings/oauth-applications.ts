import { Elysia, t } from 'elysia'
import type { OAuthApplicationRow } from '../../../db/schema/oauth.ts'
import type { Context } from '../../context.ts'
import type { CreateOAuth2ApplicationOptions } from '../../features/oauth-applications/schema.ts'
import {
  createApplication,
  deleteApplication,
  editApplication,
  getApplication,
  regenerateSecret,
} from '../../features/oauth-applications/service.ts'
import { listApplications } from '../../features/oauth-applications/store.ts'
import { invalid } from '../../kernel/errors.ts'
import { parseId } from '../../kernel/ids.ts'
import { listGrants, revokeGrant } from '../../oauth/grants.ts'
import { checkbox, type FormProblem, field, form, formText, formTick, formToken, textArea, tryForm } from '../form.ts'
import { type Html, html } from '../html.ts'
import { seeOther } from '../layout.ts'
import { pageGate, type SignedIn } from '../page-gate.ts'
import { type Page, pageNumber, pageOf } from '../page-links.ts'
import { addressOf } from '../paths.ts'
import { applicationList, GRANTS_PATH, grantList, linksOf, OAUTH_PATH } from './oauth-sections.ts'
import { donePath, settingsPage } from './settings-page.ts'

const APPLICATIONS = '/user/settings/applications'

/** Wire: the fields are Gitea's. */
const ApplicationForm = t.Object({
  ...formToken,
  application_name: formText(),
  redirect_uris: formText(210_000),
  confidential_client: formTick(),
  skip_secondary_authorization: formTick(),
})
type ApplicationForm = typeof ApplicationForm.static

/** A page of its own for each kind of thing: what was allowed, and what was registered. */
export const oauthSettingsPages = (context: Context) =>
  new Elysia({ name: 'settings-oauth' })
    .use(pageGate(context))
    .get(GRANTS_PATH, ({ actor, query }) => grantsPage(context, actor, { page: pageOf(query), done: query.done }), {
      ownPage: { recently: true },
      query: t.Object({ ...pageNumber, done: formText() }),
    })
    .get(OAUTH_PATH, ({ actor, query }) => listPage(context, actor, { page: pageOf(query), done: query.done }), {
      ownPage: { recently: true },
      query: t.Object({ ...pageNumber, done: formText() }),
    })
    .post(
      OAUTH_PATH,
      async ({ actor, body }) => {
        let made: Shown | undefined
        const problem = await tryOption(async () => {
          made = await createApplication(context, actor, optionOf(body))
        })
        if (made) return editPage(context, actor, made)
        return listPage(context, actor, { page: pageOf({}), problem, shown: body })
      },
      { ownPage: { recently: true }, body: ApplicationForm },
    )
    .get(
      `${OAUTH_PATH}/:id`,
      async ({ actor, params, query }) => {
        const row = await getApplication(context, actor, parseId(params.id))
        return editPage(context, actor, { row, done: query.done })
      },
      { ownPage: { recently: true }, query: t.Object({ done: formText() }) },
    )
    .post(
      `${OAUTH_PATH}/:id`,
      async ({ actor, params, body }) => {
        const row = await getApplication(context, actor, parseId(params.id))
        const problem = await tryOption(() => editApplication(context, actor, { id: row.id, option: optionOf(body) }))
        if (problem) return editPage(context, actor, { row, problem, shown: body })
        return seeOther(context, donePath(`${OAUTH_PATH}/${row.id}`, 'saved'))
      },
      { ownPage: { recently: true }, body: ApplicationForm },
    )
    .post(
      `${OAUTH_PATH}/:id/regenerate_secret`,
      async ({ actor, params }) =>
        editPage(context, actor, await regenerateSecret(context, actor, { id: parseId(params.id) })),
      { ownPage: { recently: true }, body: t.Object(formToken) },
    )
    .post(
      `${OAUTH_PATH}/:id/delete`,
      async ({ actor, params }) => {
        await deleteApplication(context, actor, parseId(params.id))
        return seeOther(context, donePath(APPLICATIONS, 'removed'))
      },
      { ownPage: { recently: true }, body: t.Object(formToken) },
    )
    .post(
      `${OAUTH_PATH}/:id/revoke/:grant`,
      async ({ actor, params }) => {
        await revokeGrant(context, actor, { id: parseId(params.grant), applicationId: parseId(params.id) })
        return seeOther(context, donePath(APPLICATIONS, 'removed'))
      },
      { ownPage: { recently: false }, body: t.Object(formToken) },
    )

const tryOption = (change: () => Promise<unknown>): Promise<FormProblem | undefined> =>
  tryForm(change, ['application_name', 'redirect_uris'])

/** @throws Refusal 422 for an empty field */
function optionOf(body: ApplicationForm): CreateOAuth2ApplicationOptions {
  const name = body.application_name?.trim() ?? ''
  if (name === '') throw invalid('is needed', 'application_name')
  const uris = (body.redirect_uris ?? '').split(/\s+/).filter((line) => line !== '')
  if (uris.length === 0) throw invalid('is needed', 'redirect_uris')
  if (uris.length > 100) throw invalid('are at most 100', 'redirect_uris')
  return {
    name,
    redirect_uris: uris,
    confidential_client: body.confidential_client ?? false,
    skip_secondary_authorization: body.skip_secondary_authorization ?? false,
  }
}

interface ListView {
  page: Page
  done?: string | undefined
  problem?: FormProblem | undefined
  shown?: ApplicationForm
}

async function grantsPage(context: Context, actor: SignedIn, { page, done }: ListView): Promise<Response> {
  const grants = await listGrants(context.db, actor.user.id, page)
  const main = html`${grantList(context, actor, grants, 'There is none.')}
${linksOf(context, GRANTS_PATH, { page, total: grants.total })}`
  return settingsPage(context, actor, { path: APPLICATIONS, title: 'Allowed applications', main, done })
}

async function listPage(
  context: Context,
  actor: SignedIn,
  { page, done, problem, shown }: ListView,
): Promise<Response> {
  const applications = await listApplications(context.db, actor.user.id, page)
  const fields = applicationFields(actor, { problem, shown })
  const main = html`${applicationList(context, applications)}
${linksOf(context, OAUTH_PATH, { page, total: applications.total })}
<h2>New application</h2>
${form(context, { action: OAUTH_PATH, session: actor.session, fields, submit: 'Register' })}`
  return settingsPage(context, actor, { path: APPLICATIONS, title: 'OAuth2 applications', main, done, problem })
}

interface Shown {
  row: OAuthApplicationRow
  /** Where it was made just now. */
  secret?: string
  done?: string | undefined
  problem?: FormProblem | undefined
  shown?: ApplicationForm
}

function editPage(context: Context, actor: SignedIn, { row, secret, done, problem, shown }: Shown): Response {
  const { session } = actor
  const path = `${OAUTH_PATH}/${row.id}`
  const present: ApplicationForm = {
    application_name: row.name,
    redirect_uris: row.redirectUris.join('\n'),
    confidential_client: row.isConfidential,
    skip_secondary_authorization: row.skipsConsent,
  }
  const fields = applicationFields(actor, { problem, shown: shown ?? present })
  const main = html`<p><a href="${addressOf(context, APPLICATIONS)}">Applications</a></p>
${secret && newSecret(secret)}
<dl><dt>Client id</dt><dd><code>${row.clientId}</code></dd></dl>
${form(context, { action: path, session, fields, submit: 'Save' })}
<h2>New secret</h2>
<p>The secret that it has now stops working.</p>
${form(context, { action: `${path}/regenerate_secret`, session, submit: 'Make a new secret', kind: 'plain' })}
<h2>Delete</h2>
<p>Everybody whom it has signed in is signed out of it.</p>
${form(context, { action: `${path}/delete`, session, submit: 'Delete the application', kind: 'danger' })}`
  return settingsPage(context, actor, { path: APPLICATIONS, title: row.name, main, done, problem })
}

const newSecret = (secret: string): Html =>
  html`<div class="note good" role="status"><p><strong>The client secret</strong>, shown this once:</p>
<p><code>${secret}</code></p></div>`

function applicationFields({ user }: SignedIn, { problem, shown }: Pick<Shown, 'problem' | 'shown'>): Html {
  return html`
${field({ name: 'application_name', label: 'Name', value: shown?.application_name, hint: 'People read it when they are asked.', maxLength: 255, problem })}
${textArea({ name: 'redirect_uris', label: 'Redirect URIs', value: shown?.redirect_uris, hint: 'One on each line. People are sent back to exactly these.', isCode: true, problem })}
${checkbox({ name: 'confidential_client', label: 'It can keep a secret', hint: 'It runs on a server. Programs on a computer or phone, and in a browser, cannot.', isTicked: shown === undefined || shown.confidential_client })}
${
  user.isAdmin &&
  checkbox({
    name: 'skip_secondary_authorization',
    label: 'Do not ask again who has allowed it before',
    hint: 'Others can pretend to be an application that keeps no secret.',
    isTicked: shown?.skip_secondary_authorization,
  })
}`
}
