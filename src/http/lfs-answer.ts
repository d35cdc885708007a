import type { TSchema } from '@sinclair/typebox'
import type { Context } from '../context.ts'
import { refusalOf } from './errors.ts'
import { exchangeOf } from './exchange.ts'
import { readMessage } from './message-body.ts'

const TYPE = 'application/vnd.git-lfs+json'

/** About 100 bytes for each object. */
const MAX_BYTES = 2 * 1024 * 1024

export const lfsAnswer = (value: object, status = 200): Response =>
  new Response(JSON.stringify(value), { status, headers: { 'content-type': TYPE } })

/**
 * Runs the handler of a route of Git LFS. What it throws becomes an error as git-lfs reads it (docs/api/batch.md there), and shows to its user.
 */
export async function answerLfs(
  context: Context,
  request: Request,
  handle: () => Promise<Response>,
): Promise<Response> {
  try {
    return await handle()
  } catch (error) {
    const { status, message, details } = refusalOf(context, { code: 'UNKNOWN', error, request })
    const body = { message: message || 'an error of the server', request_id: exchangeOf(request).id }
    const headers = new Headers({ 'content-type': TYPE, ...details.headers })
    // Wire: git-lfs asks its credential helper where it sees this header; others look for the usual one.
    const challenge = 'Basic realm="Gitea", charset="UTF-8"'
    if (status === 401) headers.set('lfs-authenticate', challenge)
    if (status === 401) headers.set('www-authenticate', challenge)
    return new Response(JSON.stringify(body), { status, headers })
  }
}

/** The body of a request of Git LFS, after its sender was admitted. @throws Refusal 413, 415, 422 */
export const readBody = <Schema extends TSchema>(request: Request, schema: Schema): Promise<Schema['static']> =>
  readMessage(request, schema, { maxBytes: MAX_BYTES, type: TYPE })
