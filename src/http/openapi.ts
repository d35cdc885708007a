import type { AnyElysia } from 'elysia'
import { APIError } from '../wire/api-error.ts'
import { emitDocument } from './openapi/emitted.ts'
import { isObject, type JsonObject, objectOf, stringsOf } from './openapi/json.ts'
import { describeOperation } from './openapi/operations.ts'
import { sharedHeaders, sharedResponses } from './openapi/responses.ts'
import { Models } from './openapi/schemas.ts'
import { defaultSecurity, securitySchemes } from './openapi/security.ts'
import { describeVariants } from './openapi/variants.ts'
import { explainParameters, type Words } from './openapi/words.ts'

/** Everything below it is described; pages and other protocols are not part of the API. */
const API_PREFIX = '/api/v1'

export interface Description {
  title: string
  version: string
  /** The address clients use, without a trailing slash: its path leads the server's address. */
  baseUrl: string
  /** Explanations for what does not explain itself. */
  words?: Words
}

/**
 * The OpenAPI 3.0 document of an application, from its route types and `detail` alone. @elysiajs/swagger reads the
 * routes; one pass over what it writes names the models, drops what is not OpenAPI, and completes the answers by gate.
 * @throws Error when two models share a name, or a route names a status that has no meaning here.
 */
export async function describeApi(app: AnyElysia, description: Description): Promise<JsonObject> {
  const models = new Models(description.words)
  const error = models.describe(APIError)
  const emitted = await emitDocument(app.routes, API_PREFIX, models)
  const paths = describePaths(objectOf(emitted.paths), models)
  const root = new URL(description.baseUrl).pathname.replace(/\/$/, '')
  return {
    openapi: '3.0.3',
    info: { title: description.title, version: description.version, license: { name: 'MIT' } },
    servers: [{ url: root + API_PREFIX }],
    security: defaultSecurity,
    tags: tagsOf(paths, models.words.groups),
    paths,
    components: {
      schemas: models.components(),
      responses: sharedResponses(error),
      headers: sharedHeaders,
      securitySchemes,
    },
  }
}

function describePaths(emitted: JsonObject, models: Models): JsonObject {
  const paths: Record<string, JsonObject> = {}
  const add = (path: string, method: string, operation: JsonObject) => {
    paths[path] = { ...paths[path], [method]: explainParameters(models.words, path, operation) }
  }
  for (const [path, item] of Object.entries(emitted)) {
    for (const [method, route] of Object.entries(objectOf(item))) {
      if (!isObject(route)) continue
      const operation = describeOperation({ path, method, emitted: route, models })
      add(path, method, operation)
      for (const variant of describeVariants(route, operation)) add(path + variant.suffix, method, variant.operation)
    }
  }
  return paths
}

/** Those that have words in the order of these, then the others. */
function tagsOf(paths: JsonObject, words: Words['groups']): JsonObject[] {
  const operations = Object.values(paths).flatMap((item) => Object.values(objectOf(item)))
  const names = new Set(operations.flatMap((operation) => stringsOf(objectOf(operation).tags)))
  const explained = Object.entries(words).filter(([name]) => names.has(name))
  const others = [...names].filter((name) => words[name] === undefined).sort()
  return [...explained.map(([name, description]) => ({ name, description })), ...others.map((name) => ({ name }))]
}
