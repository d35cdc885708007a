import { LRUCache } from 'lru-cache'
import * as openid from 'openid-client'
import type { Clock } from '../kernel/time.ts'
import type { Outbound, OutboundLimits } from './client.ts'
import { OutboundError } from './outbound-error.ts'

/** A provider of OpenID Connect, and who this service is there. */
export interface Provider {
  id: number
  /** Changes with everything else here. */
  version: Date
  issuer: string
  clientId: string
  /** Undefined for a public client. */
  secret: string | undefined
}

/** What providers say of themselves at their discovery address. */
export interface Providers {
  /** @throws OutboundError when it does not answer; an error of openid-client when what it answers is not to be believed */
  configurationOf(provider: Provider): Promise<openid.Configuration>
}

/** Somebody waits for each answer. Keys with their certificates may be long. No provider has a reason to send us elsewhere. */
export const PROVIDER_LIMITS: OutboundLimits = {
  connectMs: 5000,
  firstByteMs: 10_000,
  wholeMs: 10_000,
  maxBodyBytes: 256 * 1024,
  maxRedirects: 0,
}

/** Endpoints seldom move. The library reads the keys anew, when it meets one that it does not know. */
const KEPT_MS = 3_600_000
/** More than any site has. */
const MAX_KEPT = 100

/** Each provider is asked once in an hour, and again after a failure and after every change of it. */
export function createProviders({ outbound, clock }: { outbound: Outbound; clock: Clock }): Providers {
  const kept = new LRUCache<string, Promise<openid.Configuration>>({
    max: MAX_KEPT,
    ttl: KEPT_MS,
    ttlResolution: 0,
    perf: { now: () => clock.now().getTime() },
  })
  return {
    configurationOf(provider) {
      const key = `${provider.id} ${provider.version.getTime()}`
      const known = kept.get(key)
      if (known) return known
      const discovering = discover(outbound, provider).catch((error: unknown) => {
        kept.delete(key)
        throw error
      })
      kept.set(key, discovering)
      return discovering
    },
  }
}

async function discover(outbound: Outbound, { issuer, clientId, secret }: Provider): Promise<openid.Configuration> {
  const server = new URL(issuer)
  const insecure = server.protocol === 'http:' ? [openid.allowInsecureRequests] : []
  const options = { [openid.customFetch]: fetchOver(outbound), execute: insecure }
  const found = (await openid.discovery(server, clientId, undefined, openid.None(), options)).serverMetadata()
  const methods = found.token_endpoint_auth_methods_supported
  const authentication =
    secret === undefined
      ? openid.None()
      : methods?.includes('client_secret_post')
        ? openid.ClientSecretPost(secret)
        : openid.ClientSecretBasic(secret)
  const configuration = new openid.Configuration(found, clientId, undefined, authentication)
  configuration[openid.customFetch] = fetchOver(outbound)
  // Signatures are judged, though the token comes from the provider itself: not every way there is encrypted.
  for (const set of [...insecure, openid.enableNonRepudiationChecks]) set(configuration)
  return configuration
}

/** Statuses of answers that have no body (Fetch Standard, 2.2.3). */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304])

/** The requests of the library, by the rules for requests to other hosts. */
const fetchOver =
  (outbound: Outbound): openid.CustomFetch =>
  async (url, { method, headers, body, signal }) => {
    if (method !== 'GET' && method !== 'POST') throw new OutboundError('refused', `no request of the kind ${method}`)
    const sent = body === null || body === undefined ? {} : { body: textOf(body) }
    const request = { url, method, headers, secretHeaders: new Set(['authorization']), ...sent } as const
    const answer = await outbound.send(request, signal ?? new AbortController().signal)
    if (answer.isCut) throw new OutboundError('broken', 'the answer is too large')
    const type = answer.headers['content-type']
    const { status } = answer
    return new Response(WITHOUT_BODY.has(status) ? null : answer.body, {
      status,
      headers: type === undefined ? {} : { 'content-type': type },
    })
  }

/** The library sends forms. */
function textOf(body: openid.FetchBody): string {
  if (typeof body === 'string' || body instanceof URLSearchParams) return body.toString()
  throw new OutboundError('refused', 'a body of another kind than a form')
}
