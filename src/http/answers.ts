import { Elysia } from 'elysia'
import type { Config } from '../config.ts'

/** Wire: the family's media type of JSON, without a blank. */
export const JSON_TYPE = 'application/json;charset=utf-8'

interface Setting {
  status?: number | string
  headers: Record<string, string | number | undefined>
}

/**
 * Turns objects into answers. In tests and development the route's schema checks them first; in production the answer is made
 * before that stage, which saves the check (measured 42 us against 225 us for 50 items).
 */
export function jsonAnswers(config: Pick<Config, 'checkResponses'>) {
  const plugin = new Elysia({ name: 'answers' })
  if (!config.checkResponses)
    plugin.onAfterHandle({ as: 'global' }, ({ responseValue, set }) => jsonResponse(responseValue, set))
  return plugin.mapResponse({ as: 'global' }, ({ responseValue, set }) => jsonResponse(responseValue, set))
}

function jsonResponse(value: unknown, set: Setting): Response | undefined {
  if (typeof value !== 'object' || value === null || value instanceof Response || !isPlain(value)) return undefined
  const headers = new Headers({ 'content-type': JSON_TYPE })
  for (const [name, text] of Object.entries(set.headers)) if (text !== undefined) headers.set(name, String(text))
  return new Response(JSON.stringify(value), { status: typeof set.status === 'number' ? set.status : 200, headers })
}

const isPlain = (value: object): boolean => {
  if (Array.isArray(value)) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
