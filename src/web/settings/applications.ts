import { Elysia, t } from 'elysia'
import type { AccessTokenRow } from '../../../db/schema/credentials.ts'
import { scopeAreas } from '../../auth/scopes.ts'
import type { Context } from '../../context.ts'
import { createToken, deleteToken } from '../../features/access-tokens/service.ts'
import { listTokens } from '../../features/access-tokens/store.ts'
import { invalid } from '../../kernel/errors.ts'
import { checkbox, type FormProblem, field, form, formText, formTick, formToken, select, tryForm } from '../form.ts'
import { type Html, html } from '../html.ts'
import { seeOther } from '../layout.ts'
import { pageGate, type SignedIn } from '../page-gate.ts'
import { type Page, pageLinks, pageNumber, pageOf } from '../page-links.ts'
import { timeOf } from '../time.ts'
import { oauthSections } from './oauth-sections.ts'
import { scopeWords } from './scope-words.ts'
import { donePath, settingsPage } from './settings-page.ts'

const PATH = '/user/settings/applications'

/** Wire: one field for each area, named as in Gitea: `scope-repository` is `read:repository`, `write:repository` or empty. */
const scopeFields = Object.fromEntries(scopeAreas.map((area) => [`scope-${area}`, formText(40)]))

const TokenForm = t.Object({
  ...formToken,
  ...scopeFields,
  name: formText(),
  'scope-public-only': formTick(),
  expires: formText(10),
})
type TokenForm = typeof TokenForm.static

/** Access tokens: what programs sign in with; and the programs that were allowed to. */
export const applicationPages = (context: Context) =>
  new Elysia({ name: 'settings-applications' })
    .use(pageGate(context))
    .get(PATH, ({ actor, query }) => view(context, actor, { page: pageOf(query), done: query.done }), {
      ownPage: { recently: true },
      query: t.Object({ ...pageNumber, done: formText() }),
    })
    .post(
      PATH,
      async ({ actor, body }) => {
        let secret = ''
        const problem = await tryForm(
          async () => {
            const option = { name: body.name?.trim() ?? '', scopes: scopesOf(body), ...expiryOf(body) }
            if (option.name === '') throw invalid('is needed', 'name')
            const made = await createToken(context, actor.user, { ...option, by: actor })
            secret = made.secret
          },
          ['name', 'expires'],
          'name',
        )
        return view(context, actor, { page: pageOf({}), ...(problem ? { problem, shown: body } : { secret }) })
      },
      { ownPage: { recently: true }, body: TokenForm },
    )
    .post(
      `${PATH}/:id/delete`,
      async ({ actor, params }) => {
        await deleteToken(context, { owner: actor.user, by: actor }, params.id)
        return seeOther(context, donePath(PATH, 'removed'))
      },
      { ownPage: { recently: false }, body: t.Object(formToken) },
    )

function scopesOf(body: TokenForm): string[] {
  const chosen = Object.entries(body).filter(([name]) => name in scopeFields)
  const words = chosen.map(([, value]) => value).filter((value) => typeof value === 'string' && value !== '')
  return [...(body['scope-public-only'] ? ['public-only'] : []), ...words.map(String)]
}

/** A day ends when it is over. */
const expiryOf = ({ expires }: TokenForm): { expires_at?: string } =>
  expires ? { expires_at: `${expires}T23:59:59Z` } : {}

interface View {
  page: Page
  done?: string | undefined
  problem?: FormProblem
  shown?: TokenForm
  secret?: string
}

async function view(
  context: Context,
  actor: SignedIn,
  { page, done, problem, shown, secret }: View,
): Promise<Response> {
  const tokens = await listTokens(context.db, actor.user.id, page)
  const main = html`${secret && newSecret(secret)}
<h2>Access tokens</h2>
<p>Programs sign in with a token in place of your password, and can do what it says, no more.</p>
${tokens.rows.length > 0 && html`<ul class="list">${tokens.rows.map((row) => tokenRow(context, actor, row))}</ul>`}
${pageLinks(context, { path: PATH, label: 'Pages of tokens' }, { page, total: tokens.total })}
<h3>New token</h3>
${tokenForm(context, actor, { problem, shown })}
${await oauthSections(context, actor)}`
  return settingsPage(context, actor, { path: PATH, title: 'Applications', main, done, problem })
}

const newSecret = (secret: string): Html =>
  html`<div class="note good" role="status"><p><strong>The new token</strong>, shown this once:</p>
<p><code>${secret}</code></p></div>`

function tokenRow(context: Context, { session }: SignedIn, token: AccessTokenRow): Html {
  const { id, name, scopes, lastEight, createdAt, lastUsedAt, expiresAt, isLimitedToRepositories } = token
  return html`<li class="row"><div><p><strong>${name}</strong> ends in <code>${lastEight}</code></p>
<p class="hint">${scopes.length === 0 ? 'Reads public things' : scopes.join(', ')}${isLimitedToRepositories && ', for chosen repositories only'}</p>
<p class="hint">Made ${timeOf(createdAt)}, ${lastUsedAt ? html`last used ${timeOf(lastUsedAt)}` : 'never used'}${
    expiresAt && html`, expires ${timeOf(expiresAt)}`
  }</p></div>
${form(context, { action: `${PATH}/${id}/delete`, session, submit: 'Delete', kind: 'danger', label: `Delete the token ${name}` })}</li>
`
}

function tokenForm(context: Context, { session }: SignedIn, { problem, shown }: Pick<View, 'problem' | 'shown'>): Html {
  const given = new Map(Object.entries(shown ?? {}))
  const fields = html`
${field({ name: 'name', label: 'What it is for', value: shown?.name, maxLength: 255, problem })}
${field({ name: 'expires', label: 'Last day', type: 'date', value: shown?.expires, hint: 'In UTC. Without one it stays until it is deleted.', problem })}
<fieldset><legend>What it may do</legend>
${scopeAreas.map((area) =>
  select({
    name: `scope-${area}`,
    label: scopeWords[area],
    value: String(given.get(`scope-${area}`) ?? ''),
    choices: [
      { value: '', label: 'Nothing' },
      { value: `read:${area}`, label: 'Read' },
      { value: `write:${area}`, label: 'Read and write' },
    ],
  }),
)}
${checkbox({ name: 'scope-public-only', label: 'Public things only', isTicked: shown?.['scope-public-only'] })}
</fieldset>`
  return form(context, { action: PATH, session, fields, submit: 'Make the token' })
}
