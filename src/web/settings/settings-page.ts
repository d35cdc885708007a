import type { Context } from '../../context.ts'
import { type FormProblem, problemNote, statusOf } from '../form.ts'
import { type Html, html } from '../html.ts'
import { htmlPage } from '../layout.ts'
import type { SignedIn } from '../page-gate.ts'
import { addressOf } from '../paths.ts'

/** In the order in which they are listed. */
const sections = [
  { path: '/user/settings', title: 'Profile' },
  { path: '/user/settings/account', title: 'Account' },
  { path: '/user/settings/change_password', title: 'Password' },
  { path: '/user/settings/security', title: 'Security' },
  { path: '/user/settings/sessions', title: 'Sessions' },
  { path: '/user/settings/applications', title: 'Applications' },
  { path: '/user/settings/keys', title: 'SSH and GPG keys' },
  { path: '/user/settings/notifications', title: 'Notifications' },
] as const

export type SettingsPath = (typeof sections)[number]['path']

/** Said above a page after what it was asked to do: the redirect names one of these, and can say nothing else. */
const notices = {
  saved: 'Saved.',
  removed: 'Removed.',
  renamed: 'The account has its new name. Its old address leads to it.',
  mailed: 'Added. A link was mailed to the address: it counts once that was followed.',
  added: 'Added.',
  password: 'The password is changed. All other sessions have ended.',
  two_factor_off: 'Two-factor authentication is off.',
  sessions: 'All other sessions have ended.',
  connected: 'The two accounts are connected.',
  not_connected: 'Not connected: this is connected with another account here.',
  watching: 'You watch the repository.',
  ignored: 'You ignore the repository.',
  unwatched: 'You neither watch nor ignore the repository now.',
  read: 'Everything is marked as read.',
  disconnected: 'Disconnected. All other sessions have ended.',
} as const

export type Notice = keyof typeof notices

export interface SettingsPage {
  path: SettingsPath
  title: string
  main: Html
  /** Key of a notice, as it came in the query. */
  done?: string | undefined
  problem?: FormProblem | undefined
  status?: number
  script?: string
  cookies?: readonly string[]
}

/** A page of the settings: what there is at the side, then what was done or was wrong, then the page itself. */
export function settingsPage(context: Context, actor: SignedIn, page: SettingsPage): Response {
  const { path, title, main, done, problem, status, script, cookies = [] } = page
  return htmlPage(context, actor, {
    title: `${title} - Settings`,
    width: 'wide',
    cookies,
    ...(status === undefined ? {} : { status }),
    ...(script === undefined ? {} : { script }),
    ...statusOf(problem),
    main: html`<div class="split">
${navigation(context, path)}
<div>
<h1>${title}</h1>
${noticeOf(done)}${problem?.field === undefined && problemNote(problem)}
${main}
</div>
</div>`,
  })
}

/** Where a form leads that was taken. */
export const donePath = (path: string, notice: Notice): string => `${path}?done=${notice}`

const navigation = (context: Context, current: string): Html =>
  html`<nav class="side" aria-label="Settings"><ul>${sections.map(
    ({ path, title }) =>
      html`<li><a href="${addressOf(context, path)}"${path === current && html` aria-current="page"`}>${title}</a></li>`,
  )}</ul></nav>`

function noticeOf(done: string | undefined): Html | false {
  const known = Object.entries(notices).find(([key]) => key === done)
  return known !== undefined && html`<div class="note good" role="status"><p>${known[1]}</p></div>`
}
