import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { cancelStopwatch, startStopwatch, stopStopwatch } from './stopwatch-service.ts'

/** Wire: for writers, also where everybody may book time by hand. */
const write = { scope: 'issue', level: 'write' } as const

export const stopwatchRoutes = (context: Context) =>
  new Elysia({
    name: 'stopwatches',
    prefix: '/repos/:owner/:repo/issues/:index/stopwatch',
    detail: { tags: ['issue'] },
  })
    .use(gate(context))
    .post(
      '/start',
      async ({ actor, repo, issue: { issue }, set }) => {
        await startStopwatch(context, { actor, repo, issue })
        set.status = 201
      },
      {
        changeIssue: write,
        response: { 201: t.Void() },
        detail: { operationId: 'issueStartStopWatch', summary: 'Start a stopwatch on an issue', 'x-refuses': [409] },
      },
    )
    .post(
      '/stop',
      async ({ actor, repo, issue: { issue }, set }) => {
        await stopStopwatch(context, { actor, repo, issue })
        set.status = 201
      },
      {
        changeIssue: write,
        response: { 201: t.Void() },
        detail: { operationId: 'issueStopStopWatch', summary: 'Stop a stopwatch and book it', 'x-refuses': [409] },
      },
    )
    .delete(
      '/delete',
      async ({ actor, repo, issue: { issue }, set }) => {
        await cancelStopwatch(context, { actor, repo, issue })
        set.status = 204
      },
      {
        changeIssue: write,
        response: { 204: t.Void() },
        detail: { operationId: 'issueDeleteStopWatch', summary: 'Forget a stopwatch', 'x-refuses': [409] },
      },
    )
