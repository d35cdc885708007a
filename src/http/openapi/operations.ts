import { changes } from '../admission.ts'
import { unwrap } from './emitted.ts'
import { gateResponses, isGateKind, renameStatuses } from './gates.ts'
import { isObject, type Json, type JsonObject, listOf, objectOf, stringsOf } from './json.ts'
import { isShared, ownResponse, sharedResponse, tagHeader, textResponse, unchangedResponse } from './responses.ts'
import { type Models, plainSchema } from './schemas.ts'
import { securityOf } from './security.ts'

const JSON_TYPE = 'application/json'

export interface Emitted {
  path: string
  /** In lower case, as the document has it. */
  method: string
  /** The operation as the plugin wrote it. */
  emitted: JsonObject
  models: Models
}

/** One operation as the plugin wrote it, made valid, complete and small. */
export function describeOperation({ path, method, emitted, models }: Emitted): JsonObject {
  const kind = emitted['x-gate']
  const gate = isGateKind(kind) ? gateResponses(kind) : undefined
  const parameters = describeParameters(path, emitted, models)
  const { operationId, tags, summary, deprecated } = emitted
  return dropMissing({
    tags,
    summary,
    description: describeUse(method, emitted),
    operationId,
    deprecated,
    parameters: parameters.length > 0 ? parameters : undefined,
    requestBody: describeBody(emitted),
    responses: describeResponses(method, emitted, [...(gate?.statuses ?? []), ...renameStatuses(path)]),
    security: securityOf[emitted['x-login'] === true ? 'signedIn' : (gate?.callers ?? 'signedIn')],
  })
}

/** What the route says of itself, and who may do this. */
function describeUse(method: string, emitted: JsonObject): string {
  const level = changes(method.toUpperCase()) ? 'write' : 'read'
  const scopes = stringsOf(emitted['x-areas']).map((area) => `\`${level}:${area}\``)
  const needs = scopes.length === 0 ? '' : ` A token needs ${scopes.join(' and ')}.`
  const own = typeof emitted.description === 'string' ? `${emitted.description}\n\n` : ''
  return `${own}${stringsOf([emitted['x-audience'] ?? null]).join('')}${needs}`
}

function describeParameters(path: string, emitted: JsonObject, models: Models): JsonObject[] {
  const renames = objectOf(emitted['x-parameters'])
  const named = new Map<string, JsonObject>()
  for (const parameter of listOf(emitted.parameters).filter(isObject)) {
    const { in: place, required } = parameter
    const { description = parameter.description, ...schema } = plainSchema(parameter.schema, models)
    const own = String(parameter.name)
    const name = place === 'path' ? String(renames[own] ?? own) : own
    // The plugin lists a renamed path parameter twice; the later one has the schema that the route gives.
    const described = dropMissing({
      name,
      in: place,
      description,
      required: place === 'path' ? true : required,
      schema,
    })
    named.set(`${place} ${name}`, described)
  }
  const position = ({ name, in: place }: JsonObject) => (place === 'path' ? path.indexOf(`{${name}}`) : path.length)
  return [...named.values()].sort((a, b) => position(a) - position(b))
}

function describeBody(emitted: JsonObject): JsonObject | undefined {
  const [content] = Object.values(objectOf(objectOf(emitted.requestBody).content))
  if (!isObject(content)) return undefined
  const schema = unwrap(content.schema)
  const types = mediaTypes(emitted['x-consumes'])
  return {
    ...(emitted['x-body-optional'] === true ? {} : { required: true }),
    content: Object.fromEntries(types.map((type) => [type, { schema }])),
  }
}

function describeResponses(method: string, emitted: JsonObject, gateStatuses: readonly number[]): JsonObject {
  const produces = mediaTypes(emitted['x-produces'])
  const answers = new Map<number, JsonObject>()
  for (const status of [...gateStatuses, ...refusals(emitted)]) answers.set(status, sharedResponse(status))
  for (const [key, response] of Object.entries(objectOf(emitted.responses))) {
    const status = Number(key)
    const own = ownResponse(status, objectOf(response), produces)
    answers.set(status, status >= 300 && isShared(status) ? sharedResponse(status) : own)
  }
  for (const status of numbersOf(emitted['x-refuses-as-text'])) answers.set(status, textResponse(status))
  const success = answers.get(200)
  const list = listHeaders(emitted)
  if (success?.content !== undefined && method === 'get') answers.set(304, unchangedResponse(list))
  const isTagged = method === 'get' && produces.every((type) => type === JSON_TYPE)
  const headers = { ...list, ...(isTagged ? tagHeader : {}) }
  for (const answer of [success, answers.get(206)])
    if (answer?.content !== undefined && Object.keys(headers).length > 0) Object.assign(answer, { headers })
  return Object.fromEntries([...answers].sort(([a], [b]) => a - b))
}

const numbersOf = (list: Json | undefined): number[] => listOf(list).filter((item) => typeof item === 'number')

/** What the route's own checks of its input and its rules can answer. */
function refusals(emitted: JsonObject): number[] {
  const stated = numbersOf(emitted['x-refuses'])
  if (emitted.requestBody !== undefined) return [413, 422, ...stated]
  const isChecked = queryOf(emitted).some((parameter) => {
    const shown = objectOf(parameter.schema)['x-shown']
    // A list of any kind may be too long; other values that are read leniently are never refused.
    return isCursor(parameter) || shown === undefined || objectOf(shown).type === 'array'
  })
  return isChecked ? [422, ...stated] : stated
}

const queryOf = (emitted: JsonObject): JsonObject[] =>
  listOf(emitted.parameters)
    .filter(isObject)
    .filter((parameter) => parameter.in === 'query')

/** Read by `paging`, which refuses one that is not the list's own. */
const isCursor = ({ name }: JsonObject): boolean => name === 'cursor'

/** A list that is walked by cursors has links, whatever else it has. */
function listHeaders(emitted: JsonObject): JsonObject {
  if (emitted['x-pinned'] === true) return { Link: { $ref: '#/components/headers/PinnedLink' } }
  const list = emitted['x-list']
  if (list !== 'links' && list !== 'total') return {}
  const total = { 'X-Total-Count': { $ref: '#/components/headers/TotalCount' } }
  const hasLinks = list === 'links' || queryOf(emitted).some(isCursor)
  return hasLinks ? { ...total, Link: { $ref: '#/components/headers/Link' } } : total
}

function mediaTypes(stated: Json | undefined): readonly string[] {
  if (typeof stated === 'string') return [stated]
  const types = stringsOf(stated)
  return types.length > 0 ? types : [JSON_TYPE]
}

/** A copy without the keys whose value is undefined. */
function dropMissing(from: Record<string, Json | undefined>): JsonObject {
  const present: JsonObject = {}
  for (const [key, value] of Object.entries(from)) if (value !== undefined) present[key] = value
  return present
}
