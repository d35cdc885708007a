import type { TObject, TSchema } from '@sinclair/typebox'
import { Elysia, t } from 'elysia'
import { invalid, type Refusal, tooLarge } from '../kernel/errors.ts'
import { coerceToSchema } from './coerce.ts'
import { exchangeOf } from './exchange.ts'
import { jsonFault } from './json-shape.ts'

/**
 * Stands for a body that could not be read until the gate has judged who asks: a stranger gets 401, whatever they sent.
 */
export class UnreadableBody {
  readonly refusal: Refusal

  constructor(refusal: Refusal) {
    this.refusal = refusal
  }
}

/**
 * The body of a route that reads it from the request itself, while it comes: it may be larger than memory, and is limited by whoever
 * reads it.
 * @param described what the API description says of it
 */
export const streamedBody = (described: TObject) => t.Unsafe<unknown>({ ...described, 'x-streamed': true })

interface KnownRoute {
  method: string
  path: string
  hooks: { body?: unknown }
}

/**
 * The one reader of request bodies: JSON or a form, whatever the letter case of the keys, within the size limit.
 * `learn` takes the schemas of all routes, once the application is composed.
 */
export function bodyReader(maxBytes: number) {
  const schemas = new Map<string, TSchema>()
  const plugin = new Elysia({ name: 'body' }).onParse({ as: 'global' }, async ({ request, contentType, route }) => {
    const schema = schemas.get(`${request.method} ${route}`)
    // A route whose body is a text takes it as it is, whatever its media type says.
    if (schema?.['x-streamed'] === true) return {}
    if (schema?.type === 'string') return await readText(request, maxBytes)
    const isApi = route.startsWith('/api/v1/')
    // Wire: who changes something by the API must say what kind of body it is, also of none. Deleting needs none.
    // Wire: a PATCH or DELETE without a body and its type changes nothing; other methods need one.
    const mayBeAbsent = schema === undefined || !isApi || ['DELETE', 'PATCH'].includes(request.method)
    const body = await readBody(request, contentType, { maxBytes, mayBeAbsent })
    if (body instanceof UnreadableBody) return body
    if (body.isForm && isApi) exchangeOf(request).bodyToken = tokenOf(body.value)
    if (schema === undefined) return body
    const coerced = coerceToSchema(body.value, schema, body.isForm)
    return coerced.refusal ? new UnreadableBody(coerced.refusal) : coerced.value
  })
  const learn = (routes: Iterable<KnownRoute>) => {
    for (const { method, path, hooks } of routes) if (isSchema(hooks.body)) schemas.set(`${method} ${path}`, hooks.body)
  }
  return { plugin, learn }
}

/** RFC 6750, 2.2. */
function tokenOf(form: unknown): string | undefined {
  if (typeof form !== 'object' || form === null) return undefined
  const { access_token: accessToken, token }: { access_token?: unknown; token?: unknown } = form
  return [token, accessToken].find((value) => typeof value === 'string' && value !== '')?.toString()
}

const isSchema = (value: unknown): value is TSchema => typeof value === 'object' && value !== null

interface ReadableBody {
  value: unknown
  /** Form fields are texts and need to become what the schema wants. */
  isForm: boolean
}

async function readBody(
  request: Request,
  contentType: string,
  { maxBytes, mayBeAbsent }: { maxBytes: number; mayBeAbsent: boolean },
): Promise<ReadableBody | UnreadableBody> {
  const text = await readText(request, maxBytes)
  if (text instanceof UnreadableBody) return text
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  if (type === 'application/x-www-form-urlencoded') return parseForm(text)
  if (type === 'application/json' || type.endsWith('+json')) return parseJson(text)
  if (type === '') return text === '' && mayBeAbsent ? { value: {}, isForm: false } : refuse('Empty Content-Type')
  return refuse('Unsupported Content-Type')
}

const TOO_MANY_VALUES = new UnreadableBody(tooLarge('the body holds too many values'))
const refuse = (message: string) => new UnreadableBody(invalid(message, '[]'))

/** Wire: malformed JSON is 422, never 400. An empty JSON body is an object without keys. */
function parseJson(text: string): ReadableBody | UnreadableBody {
  if (text.trim() === '') return { value: {}, isForm: false }
  const fault = jsonFault(text)
  if (fault === 'depth') return refuse('JSON nested too deeply')
  if (fault === 'values') return TOO_MANY_VALUES
  try {
    return { value: JSON.parse(text), isForm: false }
  } catch (error) {
    if (error instanceof SyntaxError) return refuse('malformed JSON')
    throw error
  }
}

/** No form of the API has more than some dozens. */
const MAX_FIELDS = 1000

function parseForm(text: string): ReadableBody | UnreadableBody {
  let fields = 1
  for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1)) {
    fields += 1
    if (fields > MAX_FIELDS) return TOO_MANY_VALUES
  }
  return { value: readForm(text), isForm: true }
}

function readForm(text: string): Record<string, unknown> {
  const fields = new Map<string, string | string[]>()
  for (const [key, value] of new URLSearchParams(text)) {
    const earlier = fields.get(key)
    if (Array.isArray(earlier)) earlier.push(value)
    else fields.set(key, earlier === undefined ? value : [earlier, value])
  }
  return Object.fromEntries(fields)
}

/** Reads at most `maxBytes`. A longer body is refused before it is in memory, also when it did not say its length. */
export async function readText(request: Request, maxBytes: number): Promise<string | UnreadableBody> {
  const tooLong = new UnreadableBody(tooLarge(`the body is larger than ${maxBytes} bytes`))
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) return tooLong
  if (request.headers.has('content-length') || !request.body) return request.text()
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body) {
    size += chunk.byteLength
    if (size > maxBytes) return tooLong
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** The gate's last step: only those who may send a body learn that it cannot be read. */
export function refuseUnreadableBody(body: unknown): void {
  if (body instanceof UnreadableBody) throw body.refusal
}
