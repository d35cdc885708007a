import { Elysia, t } from 'elysia'
import type { AuthSourceRow } from '../../../db/schema/auth-sources.ts'
import type { Context } from '../../context.ts'
import { disconnect } from '../../features/auth-sources/connect.ts'
import { type ConnectedIdentity, listIdentities } from '../../features/auth-sources/identity-store.ts'
import { listActiveSources } from '../../features/auth-sources/store.ts'
import { parseId } from '../../kernel/ids.ts'
import { type FormProblem, form, formText, formToken, hidden, tryForm } from '../form.ts'
import { type Html, html } from '../html.ts'
import { seeOther } from '../layout.ts'
import { pageGate, type SignedIn } from '../page-gate.ts'
import { providerPath } from '../provider-views.ts'
import { timeOf } from '../time.ts'
import { donePath } from './settings-page.ts'

const SECURITY = '/user/settings/security'
/** Wire: Gitea's, with its field `id`. */
const PATH = `${SECURITY}/account_link`

/** Shows the page of security with what was wrong. */
type Show = (actor: SignedIn, problem: FormProblem) => Promise<Response>

/** Who somebody is at other providers. */
export const connectionPages = (context: Context, show: Show) =>
  new Elysia({ name: 'settings-connections' }).use(pageGate(context)).post(
    PATH,
    async ({ actor, body }) => {
      const problem = await tryForm(() => disconnect(context, actor, parseId(body.id ?? '')))
      return problem ? show(actor, problem) : seeOther(context, donePath(SECURITY, 'disconnected'))
    },
    { ownPage: { recently: true }, body: t.Object({ ...formToken, id: formText() }) },
  )

/** Nothing where there is no source, and nobody is connected. */
export async function connections(context: Context, actor: SignedIn): Promise<Html | false> {
  const [connected, active] = await Promise.all([
    listIdentities(context.db, actor.user.id),
    listActiveSources(context.db),
  ])
  const known = new Set(connected.map(({ source }) => source.id))
  const others = active.filter(({ id }) => !known.has(id))
  if (connected.length === 0 && others.length === 0) return false
  return html`<h2>Other providers</h2>
<p>Signing in there signs you in here.</p>
${connected.length > 0 && html`<ul class="list">${connected.map((row) => connectedRow(context, actor, row))}</ul>`}
${others.length > 0 && html`<ul class="plain">${others.map((source) => connectButton(context, source))}</ul>`}`
}

const connectButton = (context: Context, source: AuthSourceRow): Html =>
  html`<li><a class="button second" href="${providerPath(context, source, new URLSearchParams({ connect: '1' }))}">Connect with ${source.label}</a></li>
`

function connectedRow(context: Context, { session }: SignedIn, { identity, source }: ConnectedIdentity): Html {
  const { id, label, subject, createdAt, lastUsedAt } = identity
  const button = {
    action: PATH,
    session,
    fields: hidden('id', String(id)),
    submit: 'Disconnect',
    kind: 'danger',
    label: `Disconnect ${source.label}`,
  } as const
  return html`<li class="row"><div><p><strong>${source.label}</strong> ${label || subject}</p>
<p class="hint">Since ${timeOf(createdAt)}, ${lastUsedAt ? html`last used ${timeOf(lastUsedAt)}` : 'never used'}${!source.isActive && ', switched off now'}</p></div>
${form(context, button)}</li>
`
}
