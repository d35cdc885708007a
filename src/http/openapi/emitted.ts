import { swagger } from '@elysiajs/swagger'
import { Kind, OptionalKind, type TSchema, Type } from '@sinclair/typebox'
import { Elysia, type InternalRoute } from 'elysia'
import { type Json, type JsonObject, listOf, objectOf, parseJson } from './json.ts'
import type { Models } from './schemas.ts'

/**
 * What @elysiajs/swagger says about routes. They are added to an application of their own, which serves nothing else,
 * because the plugin leaves out every path with a `*` and reads one global list. There the paths are already OpenAPI's,
 * with the parameter names of the Gitea API; braces are plain text to the router, so different names do not clash.
 */
export async function emitDocument(
  routes: readonly InternalRoute[],
  prefix: string,
  models: Models,
): Promise<JsonObject> {
  const shown = new Elysia().use(swagger({ excludeStaticFile: false, path: '/page', specPath: '/document' }))
  for (const route of routes) {
    const { detail = {}, body, query, params, response } = route.hooks
    if (!route.path.startsWith(`${prefix}/`) || detail.hide === true || route.method === 'ALL') continue
    const path = templatePath(route.path.slice(prefix.length), detail['x-parameters'])
    const hooks = {
      detail: { ...detail, 'x-body-optional': isSchema(body) && OptionalKind in body },
      body: isSchema(body) ? wrap(body, models) : undefined,
      query,
      params,
      response: wrapResponses(response, models),
      parse: 'json' as const,
    }
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
 * A schema, described before the plugin sees it, inside a union of one: the plugin tears a plain object or list apart and
 * loses its name and its `additionalProperties`, and it would repeat every model in every route (8 MB and 240 ms for 480
 * routes, against 0.3 MB and 50 ms).
 */
const wrap = (schema: TSchema, models: Models): TSchema => Type.Unsafe({ anyOf: [models.describe(schema)] })

/** What `wrap` put in. */
export const unwrap = (emitted: Json | undefined): JsonObject => objectOf(listOf(objectOf(emitted).anyOf)[0])

/** A map of answers by status. */
function wrapResponses(response: unknown, models: Models): Record<string, TSchema> | undefined {
  if (isSchema(response)) return wrapResponses({ 200: response }, models)
  if (typeof response !== 'object' || response === null) return undefined
  const wrapped: Record<string, TSchema> = {}
  for (const [status, schema] of Object.entries(response)) {
    if (isSchema(schema)) wrapped[status] = isEmpty(schema) ? schema : wrap(schema, models)
  }
  return wrapped
}

const isSchema = (value: unknown): value is TSchema => typeof value === 'object' && value !== null && Kind in value

const isEmpty = (schema: TSchema): boolean => ['void', 'undefined', 'null'].includes(schema.type)
