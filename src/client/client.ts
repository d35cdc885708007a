import { treaty } from '@elysiajs/eden/treaty2'
import type { Elysia } from 'elysia'
import { type Fetcher, retrying } from './retry.ts'

export interface ClientOptions {
  /** An access token. Without it the client is a visitor. */
  token?: string
  /** Takes the place of the global `fetch`, for proxies and tests. */
  fetcher?: Fetcher
  /** How often a call is tried again, after 429 or 503, when the service says when (`Retry-After`). 3 unless it says otherwise. */
  retries?: number
  /** The longest wait before such a try, in seconds: 60 unless it says otherwise. */
  longestWait?: number
}

/**
 * A client of the API: `createClient(url, { token }).api.v1.user.get()`. It runs wherever there is `fetch`. What it can be asked is said
 * by the types that are built from the API description; here it is any path.
 * @param baseUrl address of the service, with the path it lives under, if any
 */
export function createClient(baseUrl: string, options: ClientOptions = {}): object {
  const { token, fetcher = (address, init) => fetch(address, init), retries = 3, longestWait = 60 } = options
  const eden: unknown = treaty<Elysia>(baseUrl.replace(/\/+$/, ''), {
    headers: token === undefined ? {} : { authorization: `token ${token}` },
    // Times stay the texts that their types say; Eden would make Date objects of everything that looks like one.
    parseDate: false,
    keepDomain: true,
    fetcher: asFetch(retrying(fetcher, { retries, longestWait })),
    onResponse: readAnswer,
  })
  if (!isPart(eden)) throw new TypeError('Eden made no client')
  return guarded(eden)
}

/** Bun's `fetch` has a function more, which Eden does not call. */
const asFetch = (send: Fetcher): typeof fetch =>
  Object.assign((input: RequestInfo | URL, init?: RequestInit) => send(String(input), init), { preconnect: () => {} })

/** JSON and refusals are read by Eden. Of everything else it would make numbers, dates or streams, by how it looks. */
async function readAnswer(answer: Response): Promise<unknown> {
  const type = answer.headers.get('content-type') ?? ''
  if (!answer.ok || type === '' || type.startsWith('application/json')) return undefined
  return /^text\/|ndjson/.test(type) ? answer.text() : answer.arrayBuffer()
}

/** Any step of a path, and a method at its end. */
interface Part {
  (...words: unknown[]): unknown
  readonly [name: string]: Part
}

const isPart = (value: unknown): value is Part => typeof value === 'function'

const METHODS: ReadonlySet<string> = new Set(['get', 'head', 'post', 'put', 'patch', 'delete'])

/** Eden puts what it is given into the address as it is; here a parameter is encoded, and stays one step of the path. */
function guarded(part: Part, name = ''): Part {
  return new Proxy(part, {
    // A path is no promise: awaiting one by mistake sends nothing.
    get: (_, key) => (typeof key === 'symbol' || key === 'then' ? undefined : guarded(next(part, key), key)),
    apply(_, __, words) {
      if (METHODS.has(name)) return settle(part(...words))
      const inner = part({ step: stepOf(words[0]) })
      if (!isPart(inner)) throw new TypeError('Eden made no path')
      return guarded(inner)
    },
  })
}

function next(part: Part, key: string): Part {
  const inner = part[key]
  if (inner === undefined) throw new TypeError(`there is no ${key}`)
  return inner
}

/** @throws TypeError for what would name another path */
function stepOf(parameters: unknown): string {
  const values = typeof parameters === 'object' && parameters !== null ? Object.values(parameters) : []
  // Two parameters of one step are those of `{sha}.{diffType}`.
  const step = values.map(String).join('.')
  if (['', '.', '..'].includes(step)) throw new TypeError(`'${step}' cannot be a step of a path`)
  return encodeURIComponent(step)
}

/** Where there was no answer, Eden makes a refusal with 503 of what was thrown. */
async function settle(call: unknown): Promise<unknown> {
  const answer = await call
  if (isAnswer(answer) && answer.response === undefined) throw answer.error?.value
  return answer
}

interface EdenAnswer {
  error: { value: unknown } | null
  response: Response | undefined
}

const isAnswer = (value: unknown): value is EdenAnswer =>
  typeof value === 'object' && value !== null && 'response' in value && 'error' in value
