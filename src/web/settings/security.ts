import { Elysia, t } from 'elysia'
import type { PasskeyRow } from '../../../db/schema/passkeys.ts'
import { sessionCookie } from '../../auth/session-cookie.ts'
import { rotateSession } from '../../auth/sessions.ts'
import type { Context } from '../../context.ts'
import { addPasskey, creationOptions, deletePasskey } from '../../features/passkeys/service.ts'
import { listPasskeys } from '../../features/passkeys/store.ts'
import {
  confirm,
  enrolOffered,
  offerEnrolment,
  renewRecoveryCodes,
  switchOff,
} from '../../features/two-factor/service.ts'
import { countUnusedCodes, findTwoFactor } from '../../features/two-factor/store.ts'
import { parseId } from '../../kernel/ids.ts'
import { passkeyScript } from '../assets.ts'
import { type FormProblem, field, form, formText, formToken, tryForm } from '../form.ts'
import { type Html, html, raw } from '../html.ts'
import { seeOther } from '../layout.ts'
import { pageGate, type SignedIn } from '../page-gate.ts'
import { passkeyForm } from '../passkey-form.ts'
import { addressOf } from '../paths.ts'
import { timeOf } from '../time.ts'
import { connectionPages, connections } from './connections.ts'
import { donePath, settingsPage } from './settings-page.ts'

const PATH = '/user/settings/security'
/** Wire: Gitea's, and its fields, which programs fill in. */
const TWO_FACTOR = `${PATH}/two_factor`

const recent = { recently: true }

/** The second factor. */
const twoFactorPages = (context: Context) =>
  new Elysia({ name: 'settings-two-factor' })
    .use(pageGate(context))
    .get(
      `${TWO_FACTOR}/enroll`,
      async ({ actor }) => {
        const found = await findTwoFactor(context.db, actor.user.id)
        return found?.confirmedAt ? seeOther(context, PATH) : enrolment(context, actor)
      },
      { ownPage: recent },
    )
    .post(
      `${TWO_FACTOR}/enroll`,
      async ({ actor, body }) => {
        let codes: string[] = []
        const problem = await tryForm(
          async () => {
            const code = body.passcode ?? ''
            await enrolOffered(context, actor, { session: actor.session, code })
            codes = await confirm(context, actor, code)
          },
          [],
          'passcode',
        )
        if (problem) return enrolment(context, actor, problem)
        const rotated = await rotateSession(context, actor.session, 'two_factor')
        const now = rotated ? { ...actor, session: rotated.row } : actor
        return codesPage(context, now, { codes, cookies: rotated ? [sessionCookie(context, rotated)] : [] })
      },
      { ownPage: recent, body: t.Object({ ...formToken, passcode: formText(16) }) },
    )
    .post(
      `${TWO_FACTOR}/recovery_codes`,
      async ({ actor }) => codesPage(context, actor, { codes: await renewRecoveryCodes(context, actor), cookies: [] }),
      { ownPage: recent, body: t.Object(formToken) },
    )
    .post(
      `${TWO_FACTOR}/disable`,
      async ({ actor }) => {
        const problem = await tryForm(() => switchOff(context, { user: actor.user, by: actor }))
        return problem ? overview(context, actor, { problem }) : seeOther(context, donePath(PATH, 'two_factor_off'))
      },
      { ownPage: recent, body: t.Object(formToken) },
    )

const passkeyPages = (context: Context) =>
  new Elysia({ name: 'settings-passkeys' })
    .use(pageGate(context))
    .post(
      `${PATH}/passkeys`,
      async ({ actor, body }) => {
        const passkey = { name: body.name?.trim() ?? '', sent: body.credential ?? '' }
        const problem = await tryForm(() => addPasskey(context, actor, passkey), ['name'])
        if (problem) return overview(context, actor, { problem, name: passkey.name })
        return seeOther(context, donePath(PATH, 'added'))
      },
      { ownPage: recent, body: t.Object({ ...formToken, name: formText(), credential: formText(60_000) }) },
    )
    .post(
      `${PATH}/passkeys/:id/delete`,
      async ({ actor, params }) => {
        const problem = await tryForm(() => deletePasskey(context, actor, parseId(params.id)))
        return problem ? overview(context, actor, { problem }) : seeOther(context, donePath(PATH, 'removed'))
      },
      { ownPage: recent, body: t.Object(formToken) },
    )

/** What an account is signed in with besides the password. */
export const securityPages = (context: Context) =>
  new Elysia({ name: 'settings-security' })
    .use(pageGate(context))
    .get(PATH, ({ actor, query }) => overview(context, actor, { done: query.done }), {
      ownPage: recent,
      query: t.Object({ done: formText() }),
    })
    .use(twoFactorPages(context))
    .use(passkeyPages(context))
    .use(connectionPages(context, (actor, problem) => overview(context, actor, { problem })))

interface Overview {
  done?: string | undefined
  problem?: FormProblem | undefined
  /** Of the passkey that was not taken. */
  name?: string
}

async function overview(context: Context, actor: SignedIn, { done, problem, name }: Overview): Promise<Response> {
  const found = await findTwoFactor(context.db, actor.user.id)
  const main = html`<h2>Two-factor authentication</h2>
${found?.confirmedAt ? await whileOn(context, actor, found.confirmedAt) : whileOff(context)}
<h2>Passkeys</h2>
${await passkeys(context, actor, { problem, name })}
${await connections(context, actor)}`
  const script = passkeyScript.path
  return settingsPage(context, actor, { path: PATH, title: 'Security', main, done, problem, script })
}

async function passkeys(context: Context, actor: SignedIn, { problem, name }: Overview): Promise<Html> {
  const { session } = actor
  const rows = await listPasskeys(context.db, actor.user.id)
  const fields = field({
    name: 'name',
    label: 'Name',
    value: name,
    hint: 'Such as the device that holds it.',
    maxLength: 100,
    problem,
  })
  const options = await creationOptions(context, actor)
  const adding = { action: `${PATH}/passkeys`, session, fields, submit: 'Add a passkey' } as const
  return html`<p>A passkey signs you in with the lock of a device in place of password and code.</p>
${rows.length > 0 && html`<ul class="list">${rows.map((row) => passkeyRow(context, actor, row))}</ul>`}
${passkeyForm(context, { ...adding, kind: 'main', asks: 'create', options })}
<noscript><p class="hint">Adding one needs JavaScript.</p></noscript>`
}

const passkeyRow = (context: Context, { session }: SignedIn, { id, name, createdAt, lastUsedAt }: PasskeyRow): Html =>
  html`<li class="row"><div><p><strong>${name}</strong></p>
<p class="hint">Added ${timeOf(createdAt)}, ${lastUsedAt ? html`last used ${timeOf(lastUsedAt)}` : 'never used'}</p></div>
${form(context, { action: `${PATH}/passkeys/${id}/delete`, session, submit: 'Delete', kind: 'danger', label: `Delete the passkey ${name}` })}</li>
`

const whileOff = (context: Context): Html =>
  html`<p>It is off. With it, signing in needs a code of an authenticator application besides the password.</p>
<p><a class="button" href="${addressOf(context, `${TWO_FACTOR}/enroll`)}">Switch it on</a></p>`

async function whileOn(context: Context, { user, session }: SignedIn, since: Date): Promise<Html> {
  const left = await countUnusedCodes(context.db, user.id)
  return html`<p>It is on since ${timeOf(since)}. ${left} recovery codes are left.</p>
<div class="actions">
${form(context, { action: `${TWO_FACTOR}/recovery_codes`, session, submit: 'Make new recovery codes', kind: 'plain' })}
${form(context, { action: `${TWO_FACTOR}/disable`, session, submit: 'Switch it off', kind: 'danger' })}
</div>
<p class="hint">New recovery codes replace the old ones. Switching it off ends all other sessions.</p>`
}

function enrolment(context: Context, actor: SignedIn, problem?: FormProblem): Response {
  const { secret, qrSvg } = offerEnrolment(context, actor.user, actor.session)
  const fields = field({
    name: 'passcode',
    label: 'Code',
    hint: 'The six digits that the application shows now.',
    autocomplete: 'one-time-code',
    inputmode: 'numeric',
    maxLength: 16,
    problem,
  })
  const main = html`<ol>
<li>Read this with an authenticator application, or type the key into it.
<div class="qr" role="img" aria-label="QR code of the key below">${raw(qrSvg)}</div>
<p>Key: <code>${secret}</code></p></li>
<li>Give back the code that it shows.
${form(context, { action: `${TWO_FACTOR}/enroll`, session: actor.session, fields, submit: 'Switch it on' })}</li>
</ol>`
  return settingsPage(context, actor, { path: PATH, title: 'Switch two-factor authentication on', main, problem })
}

interface Codes {
  codes: readonly string[]
  cookies: readonly string[]
}

function codesPage(context: Context, actor: SignedIn, { codes, cookies }: Codes): Response {
  const main = html`<p>Each of these signs you in once, if you lose the authenticator. They are shown this once: print them, or keep them where the
password is not.</p>
<pre tabindex="0" class="codes">${codes.map((code) => html`${code}\n`)}</pre>
<p><a href="${addressOf(context, PATH)}">I have kept them</a></p>`
  return settingsPage(context, actor, { path: PATH, title: 'Recovery codes', main, cookies })
}
