import { isObject, type Json, type JsonObject, listOf, objectOf } from '../http/openapi/json.ts'
import { commentOf, key, typeOf } from './types.ts'

export interface Operation {
  method: string
  path: string
  operation: JsonObject
  /** What `$ref` of an answer refers to. */
  responses: JsonObject
}

const BYTES = 'ArrayBuffer'

const WITHOUT_BODY: ReadonlySet<string> = new Set(['get', 'head'])

/** The method of a client that asks for one operation. */
export function declareOperation({ method, path, operation, responses }: Operation): string {
  const name = `\`${method.toUpperCase()} ${path}\` (${operation.operationId})`
  const words = [...(WITHOUT_BODY.has(method) ? [] : [bodyWord(operation)]), optionsWord(operation)]
  // A word that may be left out cannot stand in front of one that may not.
  const last = words.findLastIndex((word) => !word.includes('?:'))
  const settled = words.map((word, index) => (index < last ? word.replace('?:', ':') : word))
  const comment = commentOf(operation.summary, operation.description, name)
  return `${comment}${method}(${settled.join(', ')}): ${answerOf(operation, responses)}\n`
}

function bodyWord(operation: JsonObject): string {
  const { required, content } = objectOf(operation.requestBody)
  const schemas = Object.entries(objectOf(content)).map(([type, value]) => [type, objectOf(value).schema] as const)
  if (schemas.length === 0) return 'body?: undefined'
  // What can be sent as a form is: Eden makes one of an object that has a file.
  const [, schema] = schemas.find(([type]) => type !== 'application/octet-stream') ?? []
  return `body${required === true ? '' : '?'}: ${typeOf(schema)}`
}

function optionsWord(operation: JsonObject): string {
  const query = listOf(operation.parameters)
    .filter(isObject)
    .filter((parameter) => parameter.in === 'query')
  if (query.length === 0) return 'options?: CallOptions'
  const isNeeded = query.some(({ required }) => required === true)
  const members = query.map(
    ({ name, description, required, schema }) =>
      `${commentOf(description)}${key(String(name))}${required === true ? '' : '?'}: ${typeOf(schema)}\n`,
  )
  const mark = isNeeded ? '' : '?'
  return `options${mark}: CallOptions & { query${mark}: {\n${members.join('')}} }`
}

function answerOf(operation: JsonObject, responses: JsonObject): string {
  const answers = Object.entries(objectOf(operation.responses)).map(([status, answer]) => ({
    status: Number(status),
    content: objectOf(resolved(answer, responses).content),
  }))
  const good = answers.filter(({ status }) => status >= 200 && status < 300)
  const bad = answers.filter(({ status }) => status >= 400)
  // Where only a redirect is described, `fetch` follows it to a file.
  const data = good.length === 0 ? BYTES : [...new Set(good.map(({ content }) => dataOf(content)))].join(' | ')
  const isText = ({ content }: { content: JsonObject }) => content['text/plain'] !== undefined
  const statuses = (some: typeof bad) => some.map(({ status }) => status).join(' | ')
  const texts = bad.filter(isText)
  const words = [data, statuses(bad.filter((answer) => !isText(answer)))]
  return `Call<${[...words, ...(texts.length > 0 ? [statuses(texts)] : [])].join(', ')}>`
}

const resolved = (answer: Json, responses: JsonObject): JsonObject => {
  const { $ref: reference } = objectOf(answer)
  return objectOf(typeof reference === 'string' ? responses[reference.slice(reference.lastIndexOf('/') + 1)] : answer)
}

/** As src/client reads it: JSON as its type, text as text, anything else as bytes. */
function dataOf(content: JsonObject): string {
  const types = Object.entries(content).map(([type, value]) => {
    if (/^text\/|ndjson/.test(type)) return 'string'
    return type === 'application/json' ? typeOf(objectOf(value).schema) : BYTES
  })
  return types.length === 0 ? "''" : [...new Set(types)].join(' | ')
}
