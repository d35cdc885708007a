import { Elysia, t } from 'elysia'
import { visibleAccounts } from '../../access/visible-accounts.ts'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { paging } from '../../http/paging.ts'
import { cursorQuery } from '../../http/query.ts'
import { viewerOf } from '../../http/viewer.ts'
import { unauthorized } from '../../kernel/errors.ts'
import { presentUser, User } from '../../wire/user.ts'
import { presentWatchInfo, WatchInfo } from '../../wire/watch-info.ts'
import { setSubscription } from './service.ts'
import { isSubscribed, listSubscribers } from './store.ts'

const read = { scope: 'issue' } as const
/** A subscription changes nothing of the repository. */
const take = { scope: 'issue', level: 'read', evenArchived: true } as const

/** Wire: 201 for a change, 200 where it was so before; there is no body. */
const response = { 200: t.Void(), 201: t.Void() }
const parameters = { username: 'user' }

export const issueSubscriptionRoutes = (context: Context) =>
  new Elysia({
    name: 'issueSubscriptions',
    prefix: '/repos/:owner/:repo/issues/:index/subscriptions',
    detail: { tags: ['issue'] },
  })
    .use(gate(context))
    .get(
      '',
      async ({ actor, issue: { issue }, query, request, set }) => {
        const { page, total } = paging(context, query, { request, set })
        const visible = visibleAccounts(context.config, actor)
        const found = await listSubscribers(context.db, { issueId: issue.id, visible, page })
        total(found.total, found.next)
        const viewer = viewerOf(context, actor)
        return found.rows.map((row) => presentUser(row, viewer))
      },
      {
        readIssue: read,
        query: t.Object(cursorQuery),
        response: { 200: t.Array(User) },
        detail: { operationId: 'issueSubscriptions', summary: 'Who subscribed to an issue', 'x-list': 'total' },
      },
    )
    .get(
      '/check',
      async ({ actor, repo, issue: { issue } }) => {
        if (!actor) throw unauthorized()
        return presentWatchInfo({
          isSubscribed: await isSubscribed(context.db, { issueId: issue.id, userId: actor.user.id }),
          // Wire: of the issue, and its address.
          createdAt: issue.createdAt,
          url: `${repo.apiUrl}/issues/${issue.number}/subscriptions`,
          repositoryUrl: repo.apiUrl,
        })
      },
      {
        readIssue: { ...read, login: true },
        response: { 200: WatchInfo },
        detail: { operationId: 'issueCheckSubscription', summary: 'Whether you are notified of an issue' },
      },
    )
    .put(
      '/:username',
      async ({ actor, issue: { issue }, params, set }) => {
        const wish = { issue, name: params.username, isSubscribed: true }
        set.status = (await setSubscription(context, actor, wish)) ? 201 : 200
      },
      {
        changeIssue: take,
        response,
        detail: {
          operationId: 'issueAddSubscription',
          summary: 'Subscribe somebody to an issue: yourself, or anybody for administrators',
          'x-parameters': parameters,
        },
      },
    )
    .delete(
      '/:username',
      async ({ actor, issue: { issue }, params, set }) => {
        const wish = { issue, name: params.username, isSubscribed: false }
        set.status = (await setSubscription(context, actor, wish)) ? 201 : 200
      },
      {
        changeIssue: take,
        response,
        detail: {
          operationId: 'issueDeleteSubscription',
          summary: 'Unsubscribe somebody from an issue: yourself, or anybody for administrators',
          'x-parameters': parameters,
        },
      },
    )
