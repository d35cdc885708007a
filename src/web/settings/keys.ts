import { Elysia, t } from 'elysia'
import type { PublicKeyRow } from '../../../db/schema/credentials.ts'
import type { Context } from '../../context.ts'
import { addGpgKey, deleteGpgKey } from '../../features/gpg-keys/service.ts'
import { listPrimaryKeys } from '../../features/gpg-keys/store.ts'
import { gpgKeyToken } from '../../features/gpg-keys/token.ts'
import { MAX_KEY_TEXT_LENGTH } from '../../features/public-keys/parse.ts'
import { addKey, deleteKey } from '../../features/public-keys/service.ts'
import { listKeys } from '../../features/public-keys/store.ts'
import { parseId } from '../../kernel/ids.ts'
import { MAX_CERTIFICATE_TEXT_LENGTH } from '../../signatures/openpgp.ts'
import { checkbox, type FormProblem, field, form, formText, formTick, formToken, textArea, tryForm } from '../form.ts'
import { type Html, html } from '../html.ts'
import { seeOther } from '../layout.ts'
import { pageGate, type SignedIn } from '../page-gate.ts'
import { type Page, pageLinks, pageNumber, pageOf } from '../page-links.ts'
import { timeOf } from '../time.ts'
import { donePath, settingsPage } from './settings-page.ts'

const PATH = '/user/settings/keys'

const SshForm = t.Object({
  ...formToken,
  title: formText(),
  key: formText(MAX_KEY_TEXT_LENGTH),
  read_only: formTick(),
})
type SshForm = typeof SshForm.static

const GpgForm = t.Object({
  ...formToken,
  armored_public_key: formText(MAX_CERTIFICATE_TEXT_LENGTH),
  armored_signature: formText(16_384),
})
type GpgForm = typeof GpgForm.static

const recent = { recently: true }

/** Keys that Git is used and commits are signed with. */
export const keyPages = (context: Context) =>
  new Elysia({ name: 'settings-keys' })
    .use(pageGate(context))
    .get(PATH, ({ actor, query }) => view(context, actor, { page: pageOf(query), done: query.done }), {
      ownPage: recent,
      query: t.Object({ ...pageNumber, done: formText() }),
    })
    .post(
      `${PATH}/ssh`,
      async ({ actor, body }) => {
        const title = body.title?.trim() || commentOf(body.key)
        const option = { title, key: body.key ?? '', read_only: body.read_only ?? false }
        const problem = await tryForm(() => addKey(context, { owner: actor.user, by: actor }, option), ['title'], 'key')
        if (problem) return view(context, actor, { page: pageOf({}), problem, ssh: body })
        return seeOther(context, donePath(PATH, 'added'))
      },
      { ownPage: recent, body: SshForm },
    )
    .post(
      `${PATH}/ssh/:id/delete`,
      async ({ actor, params }) => {
        await deleteKey(context, { owner: actor.user, by: actor }, parseId(params.id))
        return seeOther(context, donePath(PATH, 'removed'))
      },
      { ownPage: { recently: false }, body: t.Object(formToken) },
    )
    .post(
      `${PATH}/gpg`,
      async ({ actor, body }) => {
        const option = {
          armored_public_key: body.armored_public_key ?? '',
          armored_signature: body.armored_signature ?? '',
        }
        const problem = await tryForm(() => addGpgKey(context, actor, option), [], 'armored_public_key')
        if (problem) return view(context, actor, { page: pageOf({}), problem, gpg: body })
        return seeOther(context, donePath(PATH, 'added'))
      },
      { ownPage: recent, body: GpgForm },
    )
    .post(
      `${PATH}/gpg/:id/delete`,
      async ({ actor, params }) => {
        await deleteGpgKey(context, actor, parseId(params.id))
        return seeOther(context, donePath(PATH, 'removed'))
      },
      { ownPage: { recently: false }, body: t.Object(formToken) },
    )

/** What a key calls itself, for a form without a title. */
const commentOf = (key = ''): string => key.trim().split(/\s+/).slice(2).join(' ').slice(0, 255) || 'SSH key'

interface View {
  page: Page
  done?: string | undefined
  problem?: FormProblem
  ssh?: SshForm
  gpg?: GpgForm
}

async function view(context: Context, actor: SignedIn, { page, done, problem, ssh, gpg }: View): Promise<Response> {
  const { db } = context
  const [sshKeys, gpgKeys] = await Promise.all([
    listKeys(db, actor.user.id, { fingerprint: undefined, page }),
    listPrimaryKeys(db, actor.user.id, page),
  ])
  const total = Math.max(sshKeys.total, gpgKeys.total)
  const main = html`<h2>SSH keys</h2>
<p>For Git over SSH, and for the signatures of commits.</p>
${list(sshKeys.rows.map((row) => sshRow(context, actor, row)))}
${sshForm(context, actor, { problem, ssh })}
<h2>GPG keys</h2>
<p>For the signatures of commits.</p>
${list(
  gpgKeys.rows.map(({ id, keyId, emails, isVerified, expiresAt }) =>
    keyRow(context, actor, {
      action: `${PATH}/gpg/${id}/delete`,
      name: keyId,
      facts: html`${emails.join(', ')}${isVerified && ', proved'}${expiresAt && html`, expires ${timeOf(expiresAt)}`}`,
    }),
  ),
)}
${gpgForm(context, actor, { problem, gpg })}
${pageLinks(context, { path: PATH, label: 'Pages of keys' }, { page, total })}`
  return settingsPage(context, actor, { path: PATH, title: 'SSH and GPG keys', main, done, problem })
}

const list = (rows: readonly Html[]): Html | false => rows.length > 0 && html`<ul class="list">${rows}</ul>`

const sshRow = (context: Context, actor: SignedIn, row: PublicKeyRow): Html =>
  keyRow(context, actor, {
    action: `${PATH}/ssh/${row.id}/delete`,
    name: row.title,
    facts: html`<code>${row.fingerprint}</code>, added ${timeOf(row.createdAt)}, ${
      row.lastUsedAt ? html`last used ${timeOf(row.lastUsedAt)}` : 'never used'
    }${row.isReadOnly && ', only fetches'}`,
  })

const keyRow = (
  context: Context,
  { session }: SignedIn,
  { action, name, facts }: { action: string; name: string; facts: Html },
): Html =>
  html`<li class="row"><div><p><strong>${name}</strong></p><p class="hint">${facts}</p></div>
${form(context, { action, session, submit: 'Delete', kind: 'danger', label: `Delete the key ${name}` })}</li>
`

const sshForm = (context: Context, { session }: SignedIn, { problem, ssh }: Pick<View, 'problem' | 'ssh'>): Html =>
  form(context, {
    action: `${PATH}/ssh`,
    session,
    submit: 'Add the SSH key',
    fields: html`
${field({ name: 'title', label: 'Title', value: ssh?.title, maxLength: 255, hint: 'Without one: the comment of the key.', problem })}
${textArea({
  name: 'key',
  label: 'Public key',
  value: ssh?.key,
  hint: html`A line such as <code>ssh-ed25519 AAAA...</code>, from a file that ends in <code>.pub</code>.`,
  isCode: true,
  problem,
})}
${checkbox({ name: 'read_only', label: 'Only fetches: a push with it is refused', isTicked: ssh?.read_only })}`,
  })

function gpgForm(context: Context, { session, user }: SignedIn, { problem, gpg }: Pick<View, 'problem' | 'gpg'>): Html {
  const fields = html`
${textArea({
  name: 'armored_public_key',
  label: 'Public GPG key',
  value: gpg?.armored_public_key,
  hint: html`As <code>gpg --armor --export</code> writes it. It bears a confirmed address of yours, or is proved below.`,
  isCode: true,
  problem,
})}
${textArea({
  name: 'armored_signature',
  label: 'Proof that you hold it',
  value: gpg?.armored_signature,
  hint: html`Not always needed. What <code>echo ${gpgKeyToken(context, user)} | gpg --armor --detach-sign</code> writes.`,
  isCode: true,
})}`
  return form(context, { action: `${PATH}/gpg`, session, submit: 'Add the GPG key', fields })
}
