import type { Context } from '../context.ts'
import { refusalOf, refusalResponse, type Thrown } from '../http/errors.ts'
import { exchangeOf } from '../http/exchange.ts'
import { sentence } from './form.ts'
import { html } from './html.ts'
import { htmlPage } from './layout.ts'

const titles: Readonly<Record<number, string>> = {
  401: 'You are not signed in',
  403: 'This is not allowed',
  404: 'Nothing is here',
  409: 'This cannot be done now',
  413: 'This is too large',
  429: 'Too many requests',
  500: 'Something is broken here',
  503: 'The service is busy',
}

/** What was thrown behind the gate of a page, as a page. */
export function errorPage(context: Context, thrown: Thrown): Response {
  const refusal = refusalOf(context, thrown)
  const { status, message, details } = refusal
  if (status < 400) return refusalResponse(context, refusal, thrown.request)
  const { id, admitted } = exchangeOf(thrown.request)
  const title = titles[status] ?? 'This does not work'
  return htmlPage(context, admitted?.actor, {
    title,
    status,
    width: 'narrow',
    ...(details.headers ? { headers: details.headers } : {}),
    main: html`<h1>${title}</h1>
${message !== '' && html`<p>${sentence(message)}</p>`}
<p class="hint">Request ${id}</p>`,
  })
}
