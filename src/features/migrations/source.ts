import type { Context } from '../../context.ts'
import { readHostPolicy } from '../../kernel/host-policy.ts'
import { createOutbound, type OutboundAnswer } from '../../outbound/client.ts'
import { type Download, openDownload } from '../../outbound/download.ts'
import type { OutboundRequest } from '../../outbound/follow.ts'
import { judgeHost, openCredentials } from '../mirrors/remote.ts'
import { type Fields, isFields } from './read.ts'

/** What is wrong with the other server, in words for whoever migrates. Nothing of them comes from there. */
export class SourceError extends Error {
  /** Another try would end the same way. */
  readonly isFinal: boolean

  constructor(message: string, { isFinal = false } = {}) {
    super(message)
    this.isFinal = isFinal
  }
}

export interface SourcePage {
  items: unknown[]
  /** As the other server says; undefined where it says nothing usable. */
  total: number | undefined
}

/** The API of a server of the Gitea family, as far as a migration reads it. Every request is judged by the address that it reaches. */
export interface Source {
  /** The repository itself. @throws OutboundError, SourceError */
  repository(): Promise<Fields>
  /** The id of the account that the credentials belong to; undefined without any, or where the server does not say. @throws OutboundError */
  ownId(): Promise<number | undefined>
  /** Whether the wiki has a page. @throws OutboundError, SourceError */
  hasWiki(): Promise<boolean>
  /** @param path below the repository. @throws OutboundError, SourceError */
  list(path: string, query: Readonly<Record<string, string | number>>): Promise<SourcePage>
  /**
   * A file, wherever the other server says that it lies. Credentials go to the origin of the API alone.
   * @throws OutboundError, also while it is read
   */
  download(url: string): Promise<Download>
}

const MIB = 1024 * 1024
const LIMITS = { connectMs: 10_000, firstByteMs: 60_000, wholeMs: 120_000, maxBodyBytes: 16 * MIB, maxRedirects: 3 }
/** A file of 2 GiB that comes at 100 KiB a second. */
const LONGEST_DOWNLOAD_MS = 6 * 3600 * 1000
const DOWNLOAD_LIMITS = { ...LIMITS, wholeMs: LONGEST_DOWNLOAD_MS, paceSeconds: 30 }
/** Servers give 50 at most, unless they are configured otherwise. */
const MOST_OF_A_PAGE = 1000

interface Place {
  apiUrl: string
  credentials: Uint8Array | null
}

/** @throws OutboundError as `judgeHost`; Refusal 503 where the credentials were sealed with another secret key */
export async function openSource(
  context: Context,
  { apiUrl, credentials: sealed }: Place,
  signal: AbortSignal,
): Promise<Source> {
  await judgeHost(context, apiUrl)
  const credentials = openCredentials(context, sealed)
  const hosts = readHostPolicy(context.config.migrationsAllowedHosts)
  const outbound = createOutbound({ hosts, limits: LIMITS })
  const { origin } = new URL(apiUrl)
  const get = (url: string, accept: string): OutboundRequest => ({
    url,
    method: 'GET',
    headers: {
      accept,
      // Wire: in place of the password servers take a token too, as Git sends it.
      ...(credentials && URL.parse(url)?.origin === origin && { authorization: basic(credentials) }),
    },
    secretHeaders: SECRET,
  })
  const ask = (url: string) => outbound.send(get(url, 'application/json'), signal)
  return {
    async repository() {
      const value = readJson(await ask(apiUrl))
      if (!isFields(value)) throw notTheApi()
      return value
    },
    async ownId() {
      if (!credentials) return undefined
      const answer = await ask(`${apiUrl.replace(/\/repos\/[^/]+\/[^/]+$/, '')}/user`)
      // A token that may not read its own account is as good as any other.
      if (answer.status !== 200) return undefined
      const value = readJson(answer)
      return isFields(value) && typeof value.id === 'number' ? value.id : undefined
    },
    async hasWiki() {
      const answer = await ask(`${apiUrl}/wiki/pages?limit=1`)
      if (answer.status === 404) return false
      const value = readJson(answer)
      return Array.isArray(value) && value.length > 0
    },
    async list(path, query) {
      const words = new URLSearchParams(Object.entries(query).map(([key, value]) => [key, String(value)]))
      const answer = await ask(`${apiUrl}/${path}?${words}`)
      const value = readJson(answer)
      if (!Array.isArray(value)) throw notTheApi()
      if (value.length > MOST_OF_A_PAGE)
        throw new SourceError(`the other server sends more than ${MOST_OF_A_PAGE} things in one page`)
      return { items: value, total: readTotal(answer) }
    },
    async download(url) {
      await judgeHost(context, url)
      return openDownload({ hosts, limits: DOWNLOAD_LIMITS }, get(url, '*/*'), signal)
    },
  }
}

const SECRET: ReadonlySet<string> = new Set(['authorization'])

const basic = ({ username, password }: { username: string; password: string }): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`

const notTheApi = () => new SourceError('the other server does not answer as a server of the Gitea family')

/** @throws SourceError */
function readJson({ status, isCut, body }: OutboundAnswer): unknown {
  if (status !== 200) throw new SourceError(REASONS[status] ?? `the other server answers with ${status}`)
  if (isCut) throw new SourceError(`the other server sends more than ${LIMITS.maxBodyBytes / MIB} MiB in one page`)
  try {
    return JSON.parse(body)
  } catch {
    throw notTheApi()
  }
}

const REASONS: Readonly<Record<number, string>> = {
  401: 'the other server asks for credentials, or refuses those it was given (401)',
  403: 'the other server forbids it (403)',
  404: 'the other server knows no such repository, or has this part switched off (404)',
  429: 'the other server asks to wait (429)',
}

const MOST_COUNTED = 1_000_000_000

function readTotal({ headers }: OutboundAnswer): number | undefined {
  const text = headers['x-total-count'] ?? ''
  const total = /^\d{1,10}$/.test(text) ? Number(text) : undefined
  return total !== undefined && total <= MOST_COUNTED ? total : undefined
}
