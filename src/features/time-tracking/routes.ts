import { Elysia, t } from 'elysia'
import { unitOf } from '../../access/issues.ts'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { paging } from '../../http/paging.ts'
import { cursorQuery, queryInstant, queryText } from '../../http/query.ts'
import { notFound } from '../../kernel/errors.ts'
import { TrackedTime } from '../../wire/tracked-time.ts'
import { presentTimes } from './present.ts'
import { requireTimes } from './rights.ts'
import { AddTimeOption } from './schema.ts'
import { addTime, deleteTime, readerFilter, resetTimes } from './service.ts'
import { listTimes } from './store.ts'

const take = { scope: 'issue', level: 'read' } as const
const nothing = { 204: t.Void() }
const timeQuery = t.Object({
  ...cursorQuery,
  user: queryText(),
  since: queryInstant('since'),
  before: queryInstant('before'),
})

/** Wire: all times of a person are given at once. The list of the repository comes in pages. */
const MAX_TIMES = 1000
const allAtOnce = { number: 1, limit: MAX_TIMES, offset: 0 }

/** The times of an issue. */
export const issueTimeRoutes = (context: Context) =>
  new Elysia({ name: 'issueTimes', prefix: '/repos/:owner/:repo/issues/:index/times', detail: { tags: ['issue'] } })
    .use(gate(context))
    .get(
      '',
      async ({ actor, repo, issue: { issue }, query, request, set }) => {
        if (!actor || !repo.repository.enableTimeTracker) throw notFound()
        const { page, total } = paging(context, query, { request, set })
        const userId = await readerFilter(context, { actor, repo, unit: unitOf(issue) }, query.user)
        const { since, before } = query
        const found = await listTimes(context, actor, { issueId: issue.id, userId, since, before }, page)
        total(found.total, found.next)
        return presentTimes(context, actor, found.rows)
      },
      {
        readIssue: { scope: 'issue', login: true },
        query: timeQuery,
        response: { 200: t.Array(TrackedTime) },
        detail: {
          operationId: 'issueTrackedTimes',
          summary: 'List the times of an issue: all for writers, else your own',
          'x-list': 'total',
          'x-refuses': [403, 422],
        },
      },
    )
    .post(
      '',
      async ({ actor, repo, issue: { issue }, body }) => {
        const [shown] = await presentTimes(context, actor, [await addTime(context, { actor, repo, issue }, body)])
        if (!shown) throw new Error('a time that was just booked is gone')
        return shown
      },
      {
        changeIssue: take,
        body: AddTimeOption,
        response: { 200: TrackedTime },
        detail: { operationId: 'issueAddTime', summary: 'Book time on an issue', 'x-refuses': [400] },
      },
    )
    .delete(
      '',
      async ({ actor, repo, issue: { issue }, set }) => {
        await resetTimes(context, { actor, repo, issue })
        set.status = 204
      },
      {
        changeIssue: take,
        response: nothing,
        detail: { operationId: 'issueResetTime', summary: 'Delete your times of an issue', 'x-refuses': [400] },
      },
    )
    .delete(
      '/:id',
      async ({ actor, repo, issue: { issue }, params, set }) => {
        await deleteTime(context, { actor, repo, issue }, params.id)
        set.status = 204
      },
      {
        changeIssue: take,
        response: nothing,
        detail: { operationId: 'issueDeleteTime', summary: 'Delete a time', 'x-refuses': [400] },
      },
    )

const read = { unit: 'repo.issues', scope: 'repository', login: true } as const

/** The times of all issues of a repository. */
export const repositoryTimeRoutes = (context: Context) =>
  new Elysia({ name: 'repositoryTimes', prefix: '/repos/:owner/:repo/times', detail: { tags: ['repository'] } })
    .use(gate(context))
    .get(
      '',
      async ({ actor, repo, query, request, set }) => {
        if (!actor) throw notFound()
        requireTimes(repo)
        const { page, total } = paging(context, query, { request, set })
        const userId = await readerFilter(context, { actor, repo, unit: 'repo.issues' }, query.user)
        const { since, before } = query
        const filter = { repositoryId: repo.repository.id, userId, since, before }
        const found = await listTimes(context, actor, filter, page)
        total(found.total, found.next)
        return presentTimes(context, actor, found.rows)
      },
      {
        readRepo: read,
        query: timeQuery,
        response: { 200: t.Array(TrackedTime) },
        detail: {
          operationId: 'repoTrackedTimes',
          summary: "List a repository's times: all for writers, else your own",
          'x-list': 'total',
          'x-refuses': [400, 403, 422],
        },
      },
    )
    .get(
      '/:username',
      async ({ actor, repo, params }) => {
        if (!actor) throw notFound()
        requireTimes(repo)
        const userId = await readerFilter(context, { actor, repo, unit: 'repo.issues' }, params.username)
        const found = await listTimes(context, actor, { repositoryId: repo.repository.id, userId }, allAtOnce)
        return presentTimes(context, actor, found.rows)
      },
      {
        readRepo: read,
        response: { 200: t.Array(TrackedTime) },
        detail: {
          operationId: 'userTrackedTimes',
          summary: 'List the times of a person; use the list of the repository',
          deprecated: true,
          'x-parameters': { username: 'user' },
          'x-refuses': [400, 403],
        },
      },
    )
