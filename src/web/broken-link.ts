import { html } from './html.ts'
import type { Page } from './layout.ts'

/** The one answer to a mailed link that does not work, whatever the reason. @param advice how to get another link */
export const brokenLink = (advice: string): Page => ({
  title: 'This link does not work',
  width: 'narrow',
  status: 404,
  main: html`<h1>This link does not work</h1>
<p>It was used already, is too old, or is not whole. ${advice}</p>`,
})
