import { Ajv, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import { isList, isObject, type Json, type JsonObject, objectOf, parseJson } from '../../src/http/openapi/json.ts'
import { type FoundOperation, operationFinder } from './operations.ts'

/** An answer that the API description does not promise. */
export class ContractViolation extends Error {
  override readonly name = 'ContractViolation'
}

export interface Exchange {
  method: string
  /** Path of the request, as sent, without the query. */
  pathname: string
  status: number
  headers: Headers
  body: string
}

export interface ContractChecker {
  /** @throws ContractViolation naming the operation, the status, and what differs. */
  check(exchange: Exchange): void
}

/** Answers given before any route is chosen, by limits on the request as such: no operation lists them. */
const BEFORE_ROUTES = new Set([400, 404, 405, 408, 413, 414, 431])

/**
 * Compares answers with an OpenAPI 3.0 document: the operation is described, the status is listed for it, the media
 * type is one of those listed, a tag and the headers of a list are sent as promised, and a JSON body has exactly the
 * described shape (a key more is a difference too).
 */
export function createContractChecker(document: JsonObject): ContractChecker {
  const find = operationFinder(document)
  const validators = bodyValidators(document)
  return {
    check(exchange) {
      if (exchange.method === 'OPTIONS' || !find.isDescribed(exchange.pathname)) return
      const found = find(exchange.method === 'HEAD' ? 'GET' : exchange.method, exchange.pathname)
      const problem = found === undefined ? judgeUnknown(exchange) : judge(exchange, found, validators)
      if (problem === undefined) return
      const name = found === undefined ? 'no operation' : String(found.operation.operationId)
      throw new ContractViolation(`${exchange.method} ${exchange.pathname} (${name}) ${exchange.status}: ${problem}`)
    },
  }
}

const judgeUnknown = ({ status }: Exchange): string | undefined =>
  BEFORE_ROUTES.has(status) ? undefined : 'is answered, but the document has no such path and method'

type BodyValidators = (reference: string) => ValidateFunction

function judge(exchange: Exchange, found: FoundOperation, validators: BodyValidators): string | undefined {
  const { response, pointer } = found.response(exchange.status)
  if (response === undefined) {
    return exchange.status === 408 ? undefined : 'the status is not listed'
  }
  const misled = judgeHeaders(exchange, objectOf(response.headers))
  if (misled !== undefined) return misled
  const content = objectOf(response.content)
  const types = Object.keys(content)
  if (exchange.body === '') {
    const isJsonAlone = types.length > 0 && types.every((type) => type === 'application/json')
    const mayBeEmpty = exchange.method === 'HEAD' || exchange.status === 205 || !isJsonAlone
    return mayBeEmpty ? undefined : 'the body is empty'
  }
  if (types.length === 0) return `has a body, but none is described: ${exchange.body.slice(0, 200)}`
  const type = (exchange.headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  if (content[type] === undefined) return `is ${type || 'without media type'}, not ${types.join(' or ')}`
  if (type !== 'application/json') return undefined
  return judgeJson(exchange.body, validators(`${pointer}/content/${escapePointer(type)}/schema`))
}

/** A tag that is described is always sent. A list that is described with a total always sends it; neither header comes undescribed. `Link` needs a second page. */
function judgeHeaders({ headers, method, status }: Exchange, described: JsonObject): string | undefined {
  for (const name of ['X-Total-Count', 'Link'])
    if (headers.has(name) && described[name] === undefined) return `the header ${name} is not described`
  if (described.ETag !== undefined && !headers.has('ETag')) return 'the header ETag is missing'
  const isWhole = method !== 'HEAD' && status !== 304
  const hasTotal = headers.has('X-Total-Count') || !isWhole || described['X-Total-Count'] === undefined
  return hasTotal ? undefined : 'the header X-Total-Count is missing'
}

function judgeJson(text: string, validate: ValidateFunction): string | undefined {
  let body: Json
  try {
    body = parseJson(text)
  } catch {
    return `the body is not JSON: ${text.slice(0, 200)}`
  }
  if (validate(body)) return undefined
  const errors = (validate.errors ?? []).map(({ instancePath, message, params }) => {
    const key: unknown = params.additionalProperty
    return `${instancePath || '/'} ${message}${key === undefined ? '' : ` (${key})`}`
  })
  return `${errors.join('; ')}: ${text.slice(0, 300)}`
}

const escapePointer = (key: string) => key.replaceAll('~', '~0').replaceAll('/', '~1')

/** Compiles the schema at a pointer of the document when it is first needed. */
function bodyValidators(document: JsonObject): BodyValidators {
  const ajv = new Ajv({ strict: false, allErrors: true, logger: false })
  addFormats.default(ajv)
  ajv.addSchema({ ...jsonSchema(document, false), $id: 'document' })
  const compiled = new Map<string, ValidateFunction>()
  return (pointer) => {
    const known = compiled.get(pointer) ?? ajv.compile({ $ref: `document#${pointer}` })
    compiled.set(pointer, known)
    return known
  }
}

/**
 * OpenAPI 3.0's schemas said in JSON Schema: `nullable` is a union with null, exclusive bounds are numbers. An object
 * with listed properties has no others, unless it is one part of an `allOf`.
 */
function jsonSchema(value: JsonObject, isPart: boolean): JsonObject {
  const { nullable, exclusiveMinimum, exclusiveMaximum, ...rest } = value
  const schema: JsonObject = {}
  for (const [key, inner] of Object.entries(rest)) {
    const isNamed = key === 'properties' && isObject(inner)
    schema[key] = isNamed ? jsonSchemas(inner) : jsonSchemaValue(inner, key === 'allOf')
  }
  for (const [key, strict] of Object.entries({ minimum: exclusiveMinimum, maximum: exclusiveMaximum })) {
    if (strict === true) schema[key === 'minimum' ? 'exclusiveMinimum' : 'exclusiveMaximum'] = schema[key] ?? 0
  }
  const isClosed = schema.type === 'object' && isObject(schema.properties) && !isPart
  if (isClosed && schema.additionalProperties === undefined) schema.additionalProperties = false
  return nullable === true ? { anyOf: [schema, { type: 'null' }] } : schema
}

/** The keys here are names of properties, whatever they look like. */
const jsonSchemas = (named: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(named).map(([name, schema]) => [name, jsonSchemaValue(schema, false)]))

function jsonSchemaValue(value: Json, isPart: boolean): Json {
  if (isList(value)) return value.map((item) => jsonSchemaValue(item, isPart))
  return isObject(value) ? jsonSchema(value, isPart) : value
}
