import type { ContractChecker } from './contract.ts'

/** How a request signs in: with a token, or as `name:password`. */
export type Credential = { token: string } | { basic: string } | undefined

export interface RequestOptions {
  method?: string
  headers?: Record<string, string>
  /** Sent as JSON. */
  json?: unknown
  /** Sent as it is; the content type is the caller's affair. */
  body?: BodyInit
  query?: Record<string, string | number | boolean | (string | number)[]>
}

/** An answer whose body was read; JSON is parsed. */
export interface Answer {
  status: number
  headers: Headers
  body: unknown
  text: string
  /** The value at `owner.login` or `0.id` in the body. Fails when there is none of this type. */
  string(path: string): string
  number(path: string): number
}

/** Sends requests as one caller. Paths begin below `/api/v1` unless they name another root. */
export interface Client {
  get(path: string, query?: RequestOptions['query']): Promise<Answer>
  post(path: string, json?: unknown): Promise<Answer>
  put(path: string, json?: unknown): Promise<Answer>
  patch(path: string, json?: unknown): Promise<Answer>
  delete(path: string, json?: unknown): Promise<Answer>
  request(path: string, options?: RequestOptions): Promise<Answer>
}

export interface ClientOptions {
  url: string
  credential?: Credential
  /** Compares every answer with the API description. */
  checker?: ContractChecker
}

export function createClient(options: ClientOptions): Client {
  const request = (path: string, request: RequestOptions = {}) => send(options, path, request)
  const sendJson = (method: string) => (path: string, json?: unknown) => request(path, { method, json })
  return {
    request,
    get: (path, query) => request(path, query === undefined ? {} : { query }),
    post: sendJson('POST'),
    put: sendJson('PUT'),
    patch: sendJson('PATCH'),
    delete: sendJson('DELETE'),
  }
}

const OTHER_ROOTS = /^\/(api|swagger|healthz|metrics|nodeinfo|\.well-known)\b/

async function send(
  { url, credential, checker }: ClientOptions,
  path: string,
  request: RequestOptions,
): Promise<Answer> {
  const { method = 'GET', json, body, query = {} } = request
  const target = new URL(OTHER_ROOTS.test(path) ? path : `/api/v1${path}`, url)
  for (const [name, value] of Object.entries(query))
    for (const single of [value].flat()) target.searchParams.append(name, String(single))
  const headers = new Headers(request.headers)
  if (credential !== undefined && !headers.has('authorization')) headers.set('authorization', authorization(credential))
  if (json !== undefined) headers.set('content-type', 'application/json')
  const init: RequestInit = { method, headers, redirect: 'manual' }
  const payload = json === undefined ? body : JSON.stringify(json)
  if (payload !== undefined) init.body = payload
  const response = await fetch(target, init)
  const text = await response.text()
  const { status, headers: received } = response
  checker?.check({ method, pathname: target.pathname, status, headers: received, body: text })
  return answer(response, text)
}

function authorization(credential: NonNullable<Credential>): string {
  return 'token' in credential
    ? `token ${credential.token}`
    : `Basic ${Buffer.from(credential.basic).toString('base64')}`
}

function answer({ status, headers }: Response, text: string): Answer {
  const isJson = headers.get('content-type')?.startsWith('application/json') === true && text !== ''
  const body: unknown = isJson ? JSON.parse(text) : undefined
  const find = (path: string): unknown => path.split('.').reduce(member, body)
  return {
    status,
    headers,
    body,
    text,
    string(path) {
      const value = find(path)
      if (typeof value !== 'string') throw new Error(`no text at ${path} of ${status} ${text.slice(0, 500)}`)
      return value
    },
    number(path) {
      const value = find(path)
      if (typeof value !== 'number') throw new Error(`no number at ${path} of ${status} ${text.slice(0, 500)}`)
      return value
    },
  }
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}
