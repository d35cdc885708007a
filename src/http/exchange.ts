import { randomUUID } from 'node:crypto'
import type { VersionedIssue } from '../access/issues.ts'
import type { RepositoryAccess } from '../access/repository-access.ts'
import type { Actor } from '../auth/actor.ts'
import type { Config } from '../config.ts'
import { plainAddress } from '../kernel/network.ts'
import type { Account } from './account-gate.ts'
import type { OrganizationAccess } from './organization-gate.ts'
import type { TeamAccess } from './team-gate.ts'

/** What a gate found out about a request: who asks, and the subject that the path names. */
export interface Admitted {
  actor: Actor | undefined
  repo?: RepositoryAccess
  account?: Account
  org?: OrganizationAccess
  team?: TeamAccess
  issue?: VersionedIssue
}

/** What the adapter knows of a request besides its text. */
export interface Arrival {
  /** Address of the other end of the connection, a proxy's if there is one. */
  peerAddress?: string | undefined
}

/**
 * A request, and everything the server has found out about it. The adapter makes it, and each step of the pipeline adds what it
 * knows: the one value that is handed on from the connection to the log.
 */
export class Exchange extends Request {
  /** In the answer's headers, in the body of an error and in every log line about it. */
  readonly id = randomUUID()
  readonly startedAt = performance.now()
  /** Undefined without a connection. */
  readonly peerAddress: string | undefined
  /** Set by the gate, once it let the request pass. */
  admitted: Admitted | undefined
  /** When the token of the request ends. Set also where the request was then refused. */
  tokenExpiresAt: Date | undefined
  /** What @elysiajs/bearer read of the request. */
  bearer: string | undefined
  /** Set by the gates of pages: errors are answered with a page. */
  isPage = false
  /** A token in a form, if the route takes forms (RFC 6750, 2.2). */
  bodyToken: string | undefined
  /** Whether the request was counted against the limit. */
  isCounted = false
  /** Set by a route that answers HEAD without making the body. */
  head: { bodyLength: number | undefined } | undefined

  constructor(url: string, init: RequestInit = {}, { peerAddress }: Arrival = {}) {
    super(url, init)
    this.peerAddress = peerAddress
  }
}

/** The exchange that a request is. Every request that reaches a route is one: `createHandler` sees to it. */
export function exchangeOf(request: Request): Exchange {
  if (request instanceof Exchange) return request
  throw new Error('the request did not come through the handler')
}

/** The path alone: the query may hold a token, and no log line may. */
export function pathOf(url: string): string {
  const start = url.indexOf('/', url.indexOf('://') + 3)
  const end = url.indexOf('?', start)
  return start < 0 ? '/' : url.slice(start, end < 0 ? undefined : end)
}

/**
 * The address that a request came from. `X-Forwarded-For` counts as far as trusted proxies wrote it: from the right, the first address
 * that is none of theirs. `Forwarded` (RFC 7239) is not read: a proxy that writes the one passes on what a client wrote in the other.
 * Undefined without a connection.
 */
export function clientAddress({ proxies }: Pick<Config, 'proxies'>, request: Request): string | undefined {
  const { peerAddress } = exchangeOf(request)
  if (peerAddress === undefined) return undefined
  // Several lines of one header are one list (RFC 9110, 5.3).
  const hops = (request.headers.get('x-forwarded-for') ?? '').split(',')
  let client = plainAddress(peerAddress) ?? peerAddress
  while (proxies.has(client)) {
    const hop = plainAddress(hops.pop() ?? '')
    // What a trusted proxy does not know, nobody does: the address of the proxy stands for it.
    if (hop === undefined) break
    client = hop
  }
  return client
}
