import { unwrap } from './emitted.ts'
import { type JsonObject, objectOf } from './json.ts'

const describe = (description: string, rest: JsonObject = {}): JsonObject => ({ description, ...rest })

const retryAfter: JsonObject = { headers: { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } } }
const location: JsonObject = { headers: { Location: { $ref: '#/components/headers/Location' } } }

/** Every JSON that is read has it (see http/answers.ts). */
export const tagHeader: JsonObject = { ETag: { $ref: '#/components/headers/ETag' } }

const JSON_TYPE = 'application/json'

/** The answers that are the same wherever they occur, by status: referred to by the operations instead of repeated. */
const shared: ReadonlyMap<number, { name: string; text: string; bare?: boolean; rest?: JsonObject }> = new Map([
  [301, { name: 'MovedPermanently', text: 'The repository has another name now.', bare: true, rest: location }],
  [
    304,
    {
      name: 'NotModified',
      text: 'What `If-None-Match` names is still current.',
      bare: true,
      rest: { headers: tagHeader },
    },
  ],
  [307, { name: 'TemporaryRedirect', text: 'The owner has another name now.', bare: true, rest: location }],
  [400, { name: 'BadRequest', text: 'The request makes no sense here.' }],
  [401, { name: 'Unauthorized', text: 'The credential is missing or wrong.' }],
  [403, { name: 'Forbidden', text: 'The caller, or the scope of the token, may not do this.' }],
  [404, { name: 'NotFound', text: 'Not there, or hidden from the caller.' }],
  [405, { name: 'MethodNotAllowed', text: 'Not possible for this thing.' }],
  [409, { name: 'Conflict', text: 'In conflict with what is already there.' }],
  [410, { name: 'Gone', text: 'It was there, and its content is lost.' }],
  [412, { name: 'PreconditionFailed', text: 'It changed since it was read.' }],
  [413, { name: 'TooLarge', text: 'The request is larger than allowed.' }],
  [414, { name: 'UriTooLong', text: 'The address is longer than allowed.' }],
  [416, { name: 'RangeNotSatisfiable', text: 'The file has no such bytes.' }],
  [422, { name: 'Invalid', text: 'A field is missing or wrong, or the body is not what its type says.' }],
  [423, { name: 'Locked', text: 'The repository is archived.' }],
  [429, { name: 'TooMany', text: 'Too many requests.', rest: retryAfter }],
  [431, { name: 'HeadTooLarge', text: 'The head of the request is larger than allowed.' }],
  [500, { name: 'InternalError', text: 'A fault of the service; `request_id` finds it in the log.' }],
  [503, { name: 'Unavailable', text: 'Something that the answer needs is away for now.', rest: retryAfter }],
  [507, { name: 'InsufficientStorage', text: 'The disk of the server takes no more.' }],
])

/** Sorted texts for the answers of the routes themselves. */
const successTexts: Readonly<Record<number, string>> = {
  200: 'Done.',
  201: 'Made.',
  202: 'Taken on; it goes on in the background.',
  204: 'Done; there is nothing to say.',
  205: 'Done; the changed things.',
  206: 'The bytes that were asked for.',
}

/** The components that `sharedResponse` refers to, with the one model of errors. */
export function sharedResponses(error: JsonObject): JsonObject {
  const named = [...shared.values()].map(({ name, text, bare, rest }) => {
    const content: JsonObject = bare ? {} : { content: { [JSON_TYPE]: { schema: error } } }
    return [name, describe(text, { ...rest, ...content })] as const
  })
  return Object.fromEntries(named)
}

export const sharedHeaders: JsonObject = {
  TotalCount: { description: 'Items on all pages, of those the caller may see.', schema: { type: 'integer' } },
  Link: {
    description:
      'Addresses of the next, last, first and previous page, as far as there are such pages. Of a long list the next one has a cursor.',
    schema: { type: 'string' },
  },
  PinnedLink: {
    description: 'The address at which the very same bytes stay, whatever moves: `rel="immutable"`.',
    schema: { type: 'string' },
  },
  Location: { description: 'The new address.', schema: { type: 'string' } },
  ETag: { description: 'Changes with the answer; for `If-None-Match`.', schema: { type: 'string' } },
  RetryAfter: { description: 'Seconds to wait.', schema: { type: 'integer' } },
}

/** @throws Error for a status that has no shared answer: a route must then say what it answers. */
export function sharedResponse(status: number): JsonObject {
  const known = shared.get(status)
  if (known === undefined) throw new Error(`no shared answer for the status ${status}`)
  return { $ref: `#/components/responses/${known.name}` }
}

/** A list has its headers also where the page that the client has is still current, unless they are known from the page only. */
export function unchangedResponse(listHeaders: JsonObject): JsonObject {
  if (Object.keys(listHeaders).length === 0) return sharedResponse(304)
  return describe(shared.get(304)?.text ?? '', { headers: { ...listHeaders, ...tagHeader } })
}

/** A refusal that comes as a sentence where the route itself refuses, and as JSON where a rule before it does. */
export function textResponse(status: number): JsonObject {
  const error = { $ref: '#/components/schemas/APIError' }
  const text = shared.get(status)?.text ?? 'Refused.'
  return describe(text, { content: { [JSON_TYPE]: { schema: error }, 'text/plain': { schema: { type: 'string' } } } })
}

export const isShared = (status: number): boolean => shared.has(status)

/** One answer of a route's own, from what the plugin made of its schema. */
export function ownResponse(status: number, emitted: JsonObject, produces: readonly string[]): JsonObject {
  const description = successTexts[status] ?? 'Answered.'
  const [content] = Object.values(objectOf(emitted.content))
  if (content === undefined) return describe(description)
  const schema = unwrap(objectOf(content).schema)
  return describe(description, {
    content: Object.fromEntries(produces.map((type) => [type, { schema: asSent(type, schema) }])),
  })
}

/** A file that is text is no bytes. */
function asSent(type: string, schema: JsonObject): JsonObject {
  const { format, ...text } = schema
  return format === 'binary' && /^text\/|json$/.test(type) ? text : schema
}
