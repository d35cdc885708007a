import type { UserRow } from '../../db/schema/users.ts'
import type { Actor } from '../auth/actor.ts'
import { FORM_TOKEN_FIELD, formTokenOf } from '../auth/csrf.ts'
import type { Context } from '../context.ts'
import type { AuthorizationRequest } from '../oauth/authorization-request.ts'
import type { Person } from '../oauth/authorize.ts'
import { hidden } from './form.ts'
import { type Html, html } from './html.ts'
import { htmlPage } from './layout.ts'
import { describeScopes, isEverything } from './oauth-scope-texts.ts'
import { addressOf } from './paths.ts'

interface ConsentView {
  request: AuthorizationRequest
  person: Person
  handle: string
  /** Undefined for a built-in application. */
  owner: UserRow | undefined
}

/** Who asks, for what, as whom, and where the answer goes. */
export function consentPage(context: Context, view: ConsentView): Response {
  const { request, person, owner } = view
  const { application, scopes, redirectUri } = request
  return htmlPage(context, person, {
    title: `Allow ${application.name}?`,
    width: 'narrow',
    formsLeadAway: true,
    main: html`<h1>Allow <strong>${application.name}</strong>?</h1>
<p>${describeOwner(context, owner)} It wants to use your account <strong>${person.user.name}</strong>.</p>
${scopeList(scopes)}
<p>You will be sent to <strong>${redirectUri}</strong>.${isLocal(redirectUri) && html` That is a program on your own computer: allow it only if you have just started it.`}</p>
${consentForm(context, view)}
<p class="hint">You can take this back at any time, in the settings of your account.</p>`,
  })
}

/** What is asked for, in words. */
export const scopeList = (scopes: readonly string[]): Html => html`<h2>It could</h2>
<ul>
${describeScopes(scopes).map((text) => html`<li>${text}</li>\n`)}</ul>
${isEverything(scopes) && html`<div class="note bad"><p>This is full access. Allow it only to a program that you trust like yourself.</p></div>`}`

export const describeOwner = (context: Context, owner: UserRow | undefined): Html =>
  owner === undefined
    ? html`This application is known to Hearth from the start.`
    : html`This application was registered by <a href="${addressOf(context, `/${owner.name}`)}">@${owner.name}</a>, who is not part of Hearth.`

const isLocal = (uri: string): boolean => /^https?:\/\/(127\.0\.0\.1|\[::1\]|localhost)[:/]/.test(`${uri}/`)

/** Wire: `granted` and the fields of Gitea. What is answered is the request that the handle stands for. */
function consentForm(context: Context, { request, person, handle }: ConsentView): Html {
  const { application, redirectUri, state, requestedScope, nonce } = request
  const fields = {
    [FORM_TOKEN_FIELD]: formTokenOf(context, person.session),
    request: handle,
    client_id: application.clientId,
    state: state ?? '',
    scope: requestedScope,
    nonce: nonce ?? '',
    redirect_uri: redirectUri,
  }
  return html`<form method="post" action="${addressOf(context, '/login/oauth/grant')}">
${Object.entries(fields).map(([name, value]) => html`${hidden(name, value)}\n`)}<div class="actions">
<button type="submit" class="main" name="granted" value="true">Allow</button>
<button type="submit" class="plain" name="granted" value="false">Do not allow</button>
</div>
</form>`
}

/** RFC 6749, 4.1.2.1: nobody is sent to an address that may be anybody's. */
export const refusedPage = (context: Context, actor: Actor | undefined, message: string): Response =>
  htmlPage(context, actor, {
    title: 'Authorization failed',
    status: 400,
    width: 'narrow',
    main: html`<h1>Authorization failed</h1>
<p>${message}.</p>
<p class="hint">The application that sent you here made a mistake, or is not registered with this service. Begin again there.</p>`,
  })

export const disabledPage = (context: Context, actor: Actor | undefined): Response =>
  htmlPage(context, actor, {
    title: 'Authorization failed',
    status: 403,
    width: 'narrow',
    main: html`<h1>Authorization failed</h1>
<p>Signing in to applications is switched off here.</p>`,
  })
