import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { paging } from '../../http/paging.ts'
import { cursorQuery, pageQuery, queryInstant } from '../../http/query.ts'
import { presentStopwatch, StopWatch, TrackedTime } from '../../wire/tracked-time.ts'
import { presentTimes } from './present.ts'
import { listStopwatches, listTimes } from './store.ts'

const own = { scope: 'user', personal: true } as const

/** What the signed-in person has tracked, wherever that was. */
export const ownTimeRoutes = (context: Context) =>
  new Elysia({ name: 'ownTimes', prefix: '/user', detail: { tags: ['user'] } })
    .use(gate(context))
    .get(
      '/times',
      async ({ actor, query, request, set }) => {
        const { page, total } = paging(context, query, { request, set })
        const { since, before } = query
        const found = await listTimes(context, actor, { userId: actor.user.id, since, before }, page)
        total(found.total, found.next)
        return presentTimes(context, actor, found.rows)
      },
      {
        login: own,
        query: t.Object({ ...cursorQuery, since: queryInstant('since'), before: queryInstant('before') }),
        response: { 200: t.Array(TrackedTime) },
        detail: {
          operationId: 'userCurrentTrackedTimes',
          summary: 'List your times',
          'x-list': 'total',
          'x-refuses': [422],
        },
      },
    )
    .get(
      '/stopwatches',
      async ({ actor, query, request, set }) => {
        const { page, total } = paging(context, query, { request, set })
        const found = await listStopwatches(context, actor)
        total(found.length)
        const now = context.clock.now()
        return found.slice(page.offset, page.offset + page.limit).map((one) => presentStopwatch(one, now))
      },
      {
        login: own,
        query: t.Object(pageQuery),
        response: { 200: t.Array(StopWatch) },
        detail: { operationId: 'userGetStopWatches', summary: 'Your running stopwatch', 'x-list': 'total' },
      },
    )
