import { Elysia, t } from 'elysia'
import type { RepositoryRow } from '../../../db/schema/repositories.ts'
import type { Context } from '../../context.ts'
import { markThreads } from '../../features/notifications/service.ts'
import { countThreads } from '../../features/notifications/store.ts'
import { getShownRepository } from '../../features/repositories/load.ts'
import { ignore, type ListedWatch, listWatches, unwatch, watch } from '../../features/watches/service.ts'
import { notFound } from '../../kernel/errors.ts'
import { parseId } from '../../kernel/ids.ts'
import { form, formText, formToken } from '../form.ts'
import { type Html, html } from '../html.ts'
import { seeOther } from '../layout.ts'
import { pageGate, type SignedIn } from '../page-gate.ts'
import { pageLinks, pageNumber, pageOf } from '../page-links.ts'
import { timeOf } from '../time.ts'
import { donePath, settingsPage } from './settings-page.ts'

const PATH = '/user/settings/notifications'
/** Below it each repository, by its id: a renamed one is still the one that was shown. */
const WATCHES = `${PATH}/watches`

const body = () => t.Object(formToken)

/** What somebody is notified of, and how much is unread. */
export const notificationPages = (context: Context) =>
  new Elysia({ name: 'settings-notifications' })
    .use(pageGate(context))
    .get(PATH, ({ actor, query }) => view(context, actor, query), {
      ownPage: { recently: false },
      query: t.Object({ ...pageNumber, done: formText() }),
    })
    .post(
      `${PATH}/read`,
      async ({ actor }) => {
        await markThreads(context, actor, { scope: { userId: actor.user.id }, query: {} })
        return seeOther(context, donePath(PATH, 'read'))
      },
      { ownPage: { recently: false }, body: body() },
    )
    .post(
      `${WATCHES}/:id/watch`,
      async ({ actor, params }) => {
        await watch(context, actor, await readable(context, actor, params.id))
        return seeOther(context, donePath(PATH, 'watching'))
      },
      { ownPage: { recently: false }, body: body() },
    )
    .post(
      `${WATCHES}/:id/ignore`,
      async ({ actor, params }) => {
        await ignore(context, actor, (await readable(context, actor, params.id)).id)
        return seeOther(context, donePath(PATH, 'ignored'))
      },
      { ownPage: { recently: false }, body: body() },
    )
    .post(
      `${WATCHES}/:id/delete`,
      async ({ actor, params }) => {
        await unwatch(context.db, actor.user.id, (await readable(context, actor, params.id)).id)
        return seeOther(context, donePath(PATH, 'unwatched'))
      },
      { ownPage: { recently: false }, body: body() },
    )

/** @throws Refusal 404 for one that does not exist and for one that the person may not see alike */
async function readable(context: Context, actor: SignedIn, text: string): Promise<RepositoryRow> {
  const id = parseId(text)
  if (id === undefined) throw notFound()
  return (await getShownRepository(context, actor, id)).repository
}

interface Query {
  page?: string | undefined
  done?: string | undefined
}

async function view(context: Context, actor: SignedIn, query: Query): Promise<Response> {
  const page = pageOf(query)
  const [unread, { rows, total }] = await Promise.all([
    countThreads(context, actor, { userId: actor.user.id, statuses: ['unread'] }),
    listWatches(context, actor, page),
  ])
  const main = html`<h2>Unread</h2>
${waiting(context, actor, unread)}
<h2>Repositories</h2>
<p>You are told of every issue of what you watch, unless you unsubscribed from it. Of what you ignore you are told nothing, but for issues that you subscribed to. Anywhere else you are told of what you take part in.</p>
${
  rows.length === 0
    ? html`<p class="hint">There is nothing here that you watch or ignore.</p>`
    : html`<ul class="list">${rows.map((row) => watchRow(context, actor, row))}</ul>`
}
${pageLinks(context, { path: PATH, label: 'Pages of repositories' }, { page, total })}`
  return settingsPage(context, actor, { path: PATH, title: 'Notifications', main, done: query.done })
}

function waiting(context: Context, { session }: SignedIn, unread: number): Html {
  if (unread === 0) return html`<p>You have read everything.</p>`
  return html`<p>${unread === 1 ? '1 notification waits' : `${unread} notifications wait`} to be read.</p>
${form(context, { action: `${PATH}/read`, session, submit: 'Mark all as read', kind: 'plain' })}`
}

function watchRow(context: Context, { session }: SignedIn, row: ListedWatch): Html {
  const { watch, ownerName, repositoryName } = row
  const name = `${ownerName}/${repositoryName}`
  const button = (verb: string, submit: string) =>
    form(context, {
      action: `${WATCHES}/${watch.repositoryId}/${verb}`,
      session,
      submit,
      kind: 'plain',
      label: `${submit}: ${name}`,
    })
  return html`<li class="row"><div><p><strong>${name}</strong></p>
<p class="hint">${watch.isSubscribed ? html`Watching since ${timeOf(watch.createdAt)}` : 'Ignored'}</p></div>
<div class="actions">${
    watch.isSubscribed
      ? [button('ignore', 'Ignore'), button('delete', 'Stop watching')]
      : [button('watch', 'Watch'), button('delete', 'Stop ignoring')]
  }</div></li>
`
}
