import { Elysia } from 'elysia'
import type { Config } from '../config.ts'
import { hasCurrent, weakTag } from './freshness.ts'

/** Wire: the family's media type of JSON, without a blank. */
export const JSON_TYPE = 'application/json;charset=utf-8'

interface Asked {
  request: Request
  set: { status?: number | string; headers: Record<string, string | number | undefined> }
}

/**
 * Turns objects into answers. In tests and development the route's schema checks them first; in production the answer is made
 * before that stage, which saves the check (measured 42 us against 225 us for 50 items).
 *
 * What was read without an ETag of its own (see freshness.ts) gets one from its text: always exact, and a client that has the answer
 * is spared the transfer.
 */
export function jsonAnswers(config: Pick<Config, 'checkResponses'>) {
  const plugin = new Elysia({ name: 'answers' })
  if (!config.checkResponses)
    plugin.onAfterHandle({ as: 'global' }, ({ responseValue, request, set }) =>
      jsonResponse(responseValue, { request, set }),
    )
  return plugin.mapResponse({ as: 'global' }, ({ responseValue, request, set }) =>
    jsonResponse(responseValue, { request, set }),
  )
}

interface Made {
  text: string
  etag: string
}

const constants = new WeakMap<object, Made | undefined>()

/** For an answer that stays the same as long as the object is there: it becomes text, and its tag is made, only once. */
export function constantAnswer<Value extends object>(value: Value): Value {
  constants.set(value, undefined)
  return Object.freeze(value)
}

function jsonResponse(value: unknown, { request, set }: Asked): Response | undefined {
  if (typeof value !== 'object' || value === null || value instanceof Response || !isPlain(value)) return undefined
  const headers = new Headers({ 'content-type': JSON_TYPE })
  for (const [name, text] of Object.entries(set.headers)) if (text !== undefined) headers.set(name, String(text))
  const status = typeof set.status === 'number' ? set.status : 200
  if (status !== 200 || !isRead(request.method) || headers.has('etag'))
    return new Response(JSON.stringify(value), { status, headers })
  const { text, etag } = make(value, headers)
  headers.set('etag', etag)
  if (!hasCurrent(request, etag)) return new Response(text, { headers })
  headers.delete('content-type')
  return new Response(null, { status: 304, headers })
}

const isRead = (method: string): boolean => method === 'GET' || method === 'HEAD'

function make(value: object, headers: Headers): Made {
  const known = constants.get(value)
  if (known) return known
  const text = JSON.stringify(value)
  // What a page says of the list around it may change while the page does not.
  const made = { text, etag: weakTag(`${text}\n${headers.get('link')}\n${headers.get('x-total-count')}`) }
  if (constants.has(value)) constants.set(value, made)
  return made
}

const isPlain = (value: object): boolean => {
  if (Array.isArray(value)) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
