import { findRuntimeTask, type RuntimeTask } from '../../auth/runtime-tokens.ts'
import type { Context } from '../../context.ts'
import { refusalOf } from '../../http/errors.ts'
import { exchangeOf } from '../../http/exchange.ts'
import { countJob, countWrongCredential } from '../../http/rate-limit.ts'
import { unauthorized } from '../../kernel/errors.ts'

/** Wire: the words of Twirp for what HTTP says by a number. */
const CODES = new Map([
  [400, 'invalid_argument'],
  [401, 'unauthenticated'],
  [403, 'permission_denied'],
  [404, 'not_found'],
  [409, 'already_exists'],
  [413, 'resource_exhausted'],
  [422, 'invalid_argument'],
  [429, 'resource_exhausted'],
  [503, 'unavailable'],
])

/** Answers as Twirp does; clients show `msg` in the log of the job. */
export async function answerTwirp(
  context: Context,
  request: Request,
  handle: () => Promise<object>,
): Promise<Response> {
  try {
    return Response.json(await handle())
  } catch (error) {
    const { status, message, details } = refusalOf(context, { code: 'UNKNOWN', error, request })
    const code = CODES.get(status) ?? 'internal'
    const body = { code, msg: message || 'an error of the server', meta: { request_id: exchangeOf(request).id } }
    return Response.json(body, { status, headers: details.headers ?? {} })
  }
}

/** The task whose runtime token a request shows. @throws Refusal 401, also once the job has ended; 429 */
export async function requireRuntimeTask(context: Context, request: Request): Promise<RuntimeTask> {
  const exchange = exchangeOf(request)
  const token = /^Bearer (\S+)$/i.exec(request.headers.get('authorization') ?? '')?.[1]
  const task = token && (await findRuntimeTask(context, token))
  if (!task) {
    await countWrongCredential(context, exchange)
    throw unauthorized('the token of the job is wrong, or the job has ended')
  }
  await countJob(context, exchange, task.taskId)
  return task
}
