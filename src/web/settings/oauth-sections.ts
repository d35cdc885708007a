import type { OAuthApplicationRow } from '../../../db/schema/oauth.ts'
import type { Context } from '../../context.ts'
import { listApplications } from '../../features/oauth-applications/store.ts'
import type { Paged } from '../../kernel/page.ts'
import { type AllowedApplication, listGrants } from '../../oauth/grants.ts'
import { form } from '../form.ts'
import { type Html, html } from '../html.ts'
import { describeScopes } from '../oauth-scope-texts.ts'
import type { SignedIn } from '../page-gate.ts'
import { type Page, pageLinks, pageOf } from '../page-links.ts'
import { addressOf } from '../paths.ts'
import { timeOf } from '../time.ts'

export const OAUTH_PATH = '/user/settings/applications/oauth2'
export const GRANTS_PATH = '/user/settings/applications/grants'

/** What the page of applications says of OAuth: the newest of each kind, with ways to all of them. */
export async function oauthSections(context: Context, actor: SignedIn): Promise<Html> {
  const page = pageOf({})
  const [grants, applications] = await Promise.all([
    listGrants(context.db, actor.user.id, page),
    listApplications(context.db, actor.user.id, page),
  ])
  return html`<h2>Applications that you have allowed</h2>
<p>They use your account as far as you have allowed it. What you take back ends at once.</p>
${grantList(context, actor, grants, 'You have not allowed any application to use your account.')}
${grants.total > page.limit && html`<p><a href="${addressOf(context, GRANTS_PATH)}">All ${grants.total}</a></p>`}
<h2>Applications of your own</h2>
<p>Programs that you run can sign people in with their accounts here (OAuth2 and OpenID Connect).</p>
${applicationList(context, applications)}
<p><a href="${addressOf(context, OAUTH_PATH)}">Register an application${applications.total > page.limit && `, or see all ${applications.total}`}</a></p>
`
}

export function grantList(
  context: Context,
  actor: SignedIn,
  { rows }: Paged<AllowedApplication>,
  otherwise: string,
): Html {
  if (rows.length === 0) return html`<p class="hint">${otherwise}</p>`
  return html`<ul class="list">${rows.map((row) => grantRow(context, actor, row))}</ul>`
}

function grantRow(
  context: Context,
  { session }: SignedIn,
  { grant, application, ownerName }: AllowedApplication,
): Html {
  const { id, name } = application
  const revoke = {
    action: `${OAUTH_PATH}/${id}/revoke/${grant.id}`,
    session,
    submit: 'Take back',
    kind: 'danger',
    label: `Take back what ${name} may do`,
  } as const
  return html`<li class="row"><div><p><strong>${name}</strong> ${ownerName === null ? 'built in' : html`by @${ownerName}`}</p>
<ul class="hint">${describeScopes(grant.scopes).map((text) => html`<li>${text}</li>`)}</ul>
<p class="hint">Since ${timeOf(grant.createdAt)}</p></div>
${form(context, revoke)}</li>
`
}

export function applicationList(context: Context, { rows }: Paged<OAuthApplicationRow>): Html | false {
  return (
    rows.length > 0 &&
    html`<ul class="list">${rows.map(
      ({ id, name, clientId }) =>
        html`<li class="row"><div><p><a href="${addressOf(context, `${OAUTH_PATH}/${id}`)}">${name}</a></p>
<p class="hint">Client id <code>${clientId}</code></p></div></li>
`,
    )}</ul>`
  )
}

export const linksOf = (context: Context, path: string, list: { page: Page; total: number }): Html | false =>
  pageLinks(context, { path, label: 'Pages of applications' }, list)
