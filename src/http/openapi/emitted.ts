import { swagger } from '@elysiajs/swagger'
import { Kind, OptionalKind, type TSchema, Type } from '@sinclair/typebox'
import { Elysia, type InternalRoute } from 'elysia'
import { type JsonObject, objectOf, parseJson } from './json.ts'

/**
 * What @elysiajs/swagger says about routes. They are added to an application of their own, which serves nothing else,
 * because the plugin leaves out every path with a `*` and reads one global list. There the paths are already OpenAPI's,
 * with the family's parameter names; braces are plain text to the router, so different names do not clash.
 */
export async function emitDocument(routes: readonly InternalRoute[], prefix: string): Promise<JsonObject> {
  const shown = new Elysia().use(swagger({ excludeStaticFile: false, path: '/page', specPath: '/document' }))
  for (const route of routes) {
    const { detail = {}, body, query, params, response } = route.hooks
    if (!route.path.startsWith(`${prefix}/`) || detail.hide === true || route.method === 'ALL') continue
    const path = templatePath(route.path.slice(prefix.length), detail['x-parameters'])
    const notes = { ...detail, 'x-body-optional': isSchema(body) && OptionalKind in body }
    const hooks = { detail: notes, body, query, params, response: wrapResponses(response), parse: 'json' as const }
    shown.route(route.method, path, () => '', hooks)
  }
  const answer = await shown.handle(new Request('http://localhost/document'))
  return objectOf(parseJson(await answer.text()))
}

/** `/repos/:owner/contents/*` becomes `/repos/{owner}/contents/{filepath}`. */
function templatePath(path: string, renames: Readonly<Record<string, string>> = {}): string {
  const named = path.replace(/:(\w+)\??/g, (_, name: string) => `{${renames[name] ?? name}}`)
  const whole = named.replace('*', `{${renames['*'] ?? 'path'}}`)
  return whole.length > 1 ? whole.replace(/\/$/, '') : whole
}

/**
 * A map of answers by status, each wrapped once: the plugin tears a plain object or list apart and loses its name and
 * its `additionalProperties`, but leaves a union alone. The pass unwraps a union of one.
 */
function wrapResponses(response: unknown): Record<string, TSchema> | undefined {
  if (isSchema(response)) return wrapResponses({ 200: response })
  if (typeof response !== 'object' || response === null) return undefined
  const wrapped: Record<string, TSchema> = {}
  for (const [status, schema] of Object.entries(response)) {
    if (isSchema(schema)) wrapped[status] = isEmpty(schema) ? schema : Type.Unsafe({ anyOf: [schema] })
  }
  return wrapped
}

const isSchema = (value: unknown): value is TSchema => typeof value === 'object' && value !== null && Kind in value

const isEmpty = (schema: TSchema): boolean => ['void', 'undefined', 'null'].includes(schema.type)
