import type { Context } from '../context.ts'
import { type Form, form, hidden } from './form.ts'
import { html } from './html.ts'

export interface PasskeyForm extends Form {
  /** What `navigator.credentials` is asked for. */
  kind: 'main' | 'plain'
  asks: 'create' | 'get'
  /** As the JSON forms of WebAuthn have them. */
  options: object
}

/** A form whose button asks the browser for a passkey. It needs `passkeyScript` on the page, and is hidden without it. */
export const passkeyForm = (context: Context, { asks, options, fields, ...rest }: PasskeyForm) =>
  form(context, {
    ...rest,
    attributes: html` hidden data-passkey="${asks}" data-options="${JSON.stringify(options)}"`,
    fields: html`${hidden('credential', '')}${fields}<p class="problem" role="alert" data-problem></p>`,
  })
