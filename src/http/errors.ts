import type { Context } from '../context.ts'
import { GitError } from '../git/errors.ts'
import { internalName, invalid, Refusal, unavailable } from '../kernel/errors.ts'
import { ObjectStoreError } from '../object-store/store.ts'
import { ThreadsBusy } from '../threads/pool.ts'
import { codeOf } from '../wire/api-error.ts'
import { refusalOfFailure, withoutParameters } from './database-errors.ts'
import { exchangeOf } from './exchange.ts'
import { gitRefusal } from './git-errors.ts'

export interface Thrown {
  code: string | number
  error: unknown
  request: Request
}

/**
 * The only place that writes an error body. What is no refusal is a bug: logged once with the request's id, answered with 500
 * and no detail.
 */
export const errorResponse = (context: Context, thrown: Thrown): Response =>
  refusalResponse(context, refusalOf(context, thrown), thrown.request)

/** What the client gets to know of something that was thrown. */
export function refusalOf(context: Context, { code, error, request }: Thrown): Refusal {
  const refusal = toRefusal(code, error)
  const requestId = exchangeOf(request).id
  if (refusal?.status === 507) context.log.error({ err: error, requestId }, 'the disk takes no more')
  if (error instanceof ObjectStoreError) context.log.error({ err: error, requestId }, 'the object storage failed')
  if (refusal) return refusal
  context.log.error({ err: withoutParameters(error), requestId }, 'request failed')
  return new Refusal(500, '')
}

/** Wire: `message` and `url` are those of the Gitea API. The other keys are those of RFC 9457, for programs. */
export function refusalResponse({ baseUrl }: Pick<Context, 'baseUrl'>, refusal: Refusal, request: Request): Response {
  const { status, message, details } = refusal
  if (status < 400) return new Response(null, { status, headers: details.headers })
  if (details.isText && !request.headers.get('accept')?.includes('application/json'))
    return new Response(`${message}\n`, {
      status,
      headers: { 'content-type': 'text/plain;charset=utf-8', ...details.headers },
    })
  const body = {
    ...(status === 404 && details.errors !== undefined ? { errors: details.errors } : {}),
    message,
    ...(details.withoutUrl ? {} : { url: `${baseUrl}/api/swagger` }),
    type: 'about:blank',
    code: codeOf(status),
    request_id: exchangeOf(request).id,
    ...(details.fields ? { errors: details.fields } : {}),
    ...(details.invalidTopics === undefined ? {} : { invalidTopics: details.invalidTopics }),
    ...(details.requiredScopes ? { required_scopes: details.requiredScopes } : {}),
  }
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json;charset=utf-8', ...details.headers },
  })
}

function toRefusal(code: string | number, error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error
  if (error instanceof GitError) return gitRefusal(error)
  if (code === 'VALIDATION') return isObject(error) && error.type === 'response' ? undefined : validationRefusal(error)
  if (error instanceof ThreadsBusy) return unavailable('too much work waits, try again')
  if (code === 'PARSE') return invalid('the body could not be read', '[]')
  if (code === 'INVALID_COOKIE_SIGNATURE') return invalid('a cookie has a wrong signature', '[]')
  return refusalOfFailure(error)
}

interface Finding {
  path: string
  message: string
  type?: unknown
  value?: unknown
}

/** Wire: the first wrong field is named, as `[Field]: Required` or with what was expected. */
function validationRefusal(error: unknown): Refusal {
  const findings = isObject(error) && Array.isArray(error.all) ? error.all.filter(isFinding) : []
  const fields = findings.map(({ path, message, value }) => {
    const field = path.replace(/^\//, '').replaceAll('/', '.') || '[]'
    return { field, message: value === undefined || value === '' ? 'Required' : message }
  })
  const [first] = fields
  const message = first ? `[${first.field === '[]' ? '' : internalName(first.field)}]: ${first.message}` : '[]: invalid'
  return new Refusal(422, message, { fields })
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

const isFinding = (value: unknown): value is Finding =>
  isObject(value) && typeof value.path === 'string' && typeof value.message === 'string'
