import type { AuthSourceRow } from '../../db/schema/auth-sources.ts'
import type { Actor } from '../auth/actor.ts'
import type { Context } from '../context.ts'
import { mayRegister } from '../features/auth-sources/arrival.ts'
import { listActiveSources, type Pending } from '../features/auth-sources/store.ts'
import { type FormProblem, field, form, problemNote, statusOf } from './form.ts'
import { type Html, html } from './html.ts'
import { htmlPage } from './layout.ts'
import { addressOf } from './paths.ts'

/** A button for each source. @param again whether people have to show there again who they are */
export async function providerButtons(
  context: Context,
  { redirectTo, again }: { redirectTo: string | undefined; again: boolean },
): Promise<Html | false> {
  const sources = await listActiveSources(context.db)
  if (sources.length === 0) return false
  const query = new URLSearchParams({
    ...(redirectTo === undefined ? {} : { redirect_to: redirectTo }),
    ...(again ? { prompt: 'login' } : {}),
  })
  return html`<ul class="plain">${sources.map(
    (source) =>
      html`<li><a class="button second" href="${providerPath(context, source, query)}">Sign in with ${source.label}</a></li>
`,
  )}</ul>`
}

export function providerPath(context: Context, { name }: AuthSourceRow, query: URLSearchParams): string {
  const path = addressOf(context, `/user/oauth2/${name}`)
  return query.size === 0 ? path : `${path}?${query}`
}

interface Newcomer {
  found: Pending
  /** As it was typed. */
  shown?: { user_name?: string | undefined; email?: string | undefined }
  problem?: FormProblem
}

/** Which account somebody wants to come in with, whom a source has signed in and nobody knows here. */
export function newcomerPage(context: Context, actor: Actor | undefined, newcomer: Newcomer): Response {
  const { found, problem } = newcomer
  const { pending, source } = found
  return htmlPage(context, actor, {
    title: 'Which account is yours?',
    width: 'narrow',
    ...statusOf(problem),
    main: html`<h1>Which account is yours?</h1>
<p>${source.label} has signed you in as <strong>${pending.label}</strong>. Here that belongs to no account yet.</p>
${problem?.field === undefined && problemNote(problem)}
<h2>I have an account</h2>
${actor?.session ? connecting(context, actor, found) : signingIn(context)}
${!actor?.session && mayRegister(context.config, source) && registering(context, newcomer)}`,
  })
}

const connecting = (context: Context, { user, session }: Actor, { pending, source }: Pending): Html =>
  html`<p>You are signed in as <strong>${user.name}</strong>. Connected, ${pending.label} of ${source.label} opens this account from now on.</p>
${form(context, { action: '/user/link_account_signin', session, submit: `Connect with ${user.name}` })}
<p><a href="${addressOf(context, '/user/link_account_signin')}">Sign in to another account</a></p>`

const signingIn = (context: Context): Html =>
  html`<p>Sign in to it as you did until now. Then you are asked whether to connect the two.</p>
<p><a class="button" href="${addressOf(context, '/user/link_account_signin')}">Sign in to my account</a></p>`

function registering(context: Context, { found, shown, problem }: Newcomer): Html {
  const { name, email, isEmailVerified } = found.pending.profile
  const fields = html`${field({
    name: 'user_name',
    label: 'User name',
    value: shown?.user_name ?? name,
    autocomplete: 'username',
    maxLength: 40,
    problem,
  })}
${
  isEmailVerified
    ? html`<p>E-mail address: <strong>${email}</strong></p>${problem?.field === 'email' && problemNote(problem)}`
    : field({
        name: 'email',
        label: 'E-mail address',
        type: 'email',
        value: shown?.email ?? email,
        autocomplete: 'email',
        problem,
      })
}`
  return html`<h2>I am new here</h2>
${form(context, { action: '/user/link_account_signup', session: undefined, fields, submit: 'Make the account', kind: 'plain' })}`
}

export const noNewcomerPage = (context: Context, actor: Actor | undefined): Response =>
  htmlPage(context, actor, {
    title: 'Begin again',
    width: 'narrow',
    status: 400,
    main: html`<h1>Begin again</h1>
<p>No sign-in by another provider waits in this browser: it took too long, or is done.</p>
<p><a href="${addressOf(context, '/user/login')}">Sign in</a></p>`,
  })
