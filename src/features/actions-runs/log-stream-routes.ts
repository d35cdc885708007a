import { Elysia, t } from 'elysia'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { FileBody, streamed } from '../../http/download.ts'
import { gate } from '../../http/gate.ts'
import { logChannelOf } from './channel.ts'
import { followLog, placeAfter } from './log-follow.ts'
import { type News, newsOf } from './news.ts'
import { getLoggedJob } from './service.ts'
import { logQuery } from './shared-routes.ts'
import { createStreamPlaces } from './stream-places.ts'

/** Then a reader comes again, and is judged again. */
const STREAM_MS = 5 * 60_000

/** The log of a job as it grows, for whoever may read it. */
export const logStreamRoutes = (context: Context) => {
  const places = createStreamPlaces()
  const news = new Map<string, News>()
  const newsOfTask = (taskId: number): News => {
    const channel = logChannelOf(taskId)
    const known = news.get(channel) ?? newsOf(context.channels, channel)
    news.set(channel, known)
    return known
  }
  return new Elysia({ name: 'log-streams', prefix: '/repos/:owner/:repo/actions', detail: { tags: ['repository'] } })
    .use(gate(context))
    .get(
      '/jobs/:job_id/logs/stream',
      async ({ actor, repo, params, query: { attempt }, request, status }) => {
        const { taskId } = await getLoggedJob(context, repo, { text: params.job_id, attempt })
        const from = placeAfter(taskId, request.headers.get('last-event-id'))
        // The word for browsers that nothing more comes: after any other they ask again.
        if (!from) return status(204, undefined)
        const leave = places.enter(readerOf(actor))
        const gone = new AbortController()
        const over = AbortSignal.any([context.stopping, AbortSignal.timeout(STREAM_MS), gone.signal])
        over.addEventListener('abort', leave, { once: true })
        const texts = followLog(context.db, { taskId, news: newsOfTask(taskId), from, over })
        return streamed(bytesOf(texts, gone), { headers })
      },
      {
        readRepo: { unit: 'repo.actions', scope: 'repository', login: true },
        query: logQuery(),
        response: { 200: FileBody, 204: t.Void() },
        detail: {
          operationId: 'streamActionsRunJobLogs',
          summary: 'The log of a job as it grows, as server-sent events',
          description:
            'Goes on after the event that `Last-Event-ID` names. The event `end` has the conclusion of the job; after it the answer is 204.',
          'x-produces': ['text/event-stream'],
          'x-refuses': [429, 503],
        },
      },
    )
}

const headers = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-store, no-transform',
  // nginx would keep events back until its buffer is full.
  'x-accel-buffering': 'no',
}

/** All jobs act as one account, so each of them counts by itself. */
const readerOf = (actor: Actor | undefined): string =>
  actor?.job ? `job ${actor.job.taskId}` : `account ${actor?.user.id ?? 'of nobody'}`

/** As fast as it is read. `gone` fires at its end, whatever ends it. */
function bytesOf(texts: AsyncGenerator<string>, gone: AbortController): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { value, done } = await texts.next()
        if (!done) return controller.enqueue(encoder.encode(value))
        controller.close()
        gone.abort()
      } catch (error) {
        gone.abort()
        throw error
      }
    },
    cancel: () => gone.abort(),
  })
}
