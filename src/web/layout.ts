import type { Actor } from '../auth/actor.ts'
import type { Context } from '../context.ts'
import { stylesheet } from './assets.ts'
import { form } from './form.ts'
import { type Html, html } from './html.ts'
import { addressOf } from './paths.ts'

export interface Page {
  title: string
  main: Html
  /** `narrow` for one short form, `wide` for pages with a list beside them. */
  width?: 'narrow' | 'wide'
  status?: number
  /** Values of Set-Cookie. */
  cookies?: readonly string[]
  headers?: Readonly<Record<string, string>>
  /** The address of a script of ours. Everything else on the page works without it. */
  script?: string
  /** Whether its forms may end at another site: browsers hold `form-action` against redirects too. */
  formsLeadAway?: boolean
}

/** A whole page, as its reader sees it. */
export function htmlPage(context: Context, actor: Actor | undefined, page: Page): Response {
  const { title, main, width = '', status = 200 } = page
  const path = (local: string) => addressOf(context, local)
  const document = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} - Hearth</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${path(stylesheet.path)}">
${page.script && html`<script defer src="${path(page.script)}"></script>`}
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="top">
<a class="brand" href="${path('/')}">Hearth</a>
<nav aria-label="Account"><ul>${accountLinks(context, actor)}</ul></nav>
</header>
<main id="content" class="${width}" tabindex="-1">
${main}
</main>
<footer><a href="${path('/')}">Hearth</a> at ${context.baseUrl}</footer>
</body>
</html>
`
  return new Response(document.text, { status, headers: headersOf(page) })
}

function accountLinks(context: Context, actor: Actor | undefined): Html {
  if (!actor) return html`<li><a href="${addressOf(context, '/user/login')}">Sign in</a></li>`
  const signOut = { action: '/user/logout', session: actor.session, submit: 'Sign out', kind: 'plain' } as const
  return html`<li><a href="${addressOf(context, '/user/settings')}">Settings of ${actor.user.name}</a></li>
<li>${form(context, signOut)}</li>`
}

function headersOf({ cookies = [], script, formsLeadAway, headers }: Page): Headers {
  const all = new Headers({
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': contentSecurityPolicy(script !== undefined, formsLeadAway === true),
    'cache-control': 'no-store',
    // Not `no-referrer`: browsers would hide the origin of our own forms from us.
    'referrer-policy': 'same-origin',
    'x-frame-options': 'DENY',
    ...headers,
  })
  for (const cookie of cookies) all.append('set-cookie', cookie)
  return all
}

/** Nothing from elsewhere, in no frame, no script in the page itself. */
const contentSecurityPolicy = (hasScript: boolean, formsLeadAway: boolean): string =>
  [
    "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'",
    ...(hasScript ? ["script-src 'self'"] : []),
    ...(formsLeadAway ? [] : ["form-action 'self'"]),
  ].join('; ')

/** 303: whatever was sent, the browser gets the next page. */
export function seeOther(context: Context, local: string, cookies: readonly string[] = []): Response {
  const headers = new Headers({ location: addressOf(context, local), 'cache-control': 'no-store' })
  for (const cookie of cookies) headers.append('set-cookie', cookie)
  return new Response(null, { status: 303, headers })
}
