import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { Context } from '../../context.ts'
import type { Remote, RemoteCredentials } from '../../git/model.ts'
import { readHostPolicy } from '../../kernel/host-policy.ts'
import { allowedAddresses } from '../../outbound/exchange.ts'
import { OutboundError } from '../../outbound/outbound-error.ts'

const PURPOSE = 'mirror credentials'
const Credentials = Type.Object({ username: Type.String(), password: Type.String() })

/**
 * The addresses that a URL leads to now. They are what Git connects to, so a name that leads elsewhere a moment later changes nothing.
 * @throws OutboundError `refused` for hosts that the settings do not allow and for this very service, `lookup`
 */
export async function judgeHost({ config, baseUrl }: Context, url: string): Promise<string[]> {
  const { host, hostname } = new URL(url)
  if (host === new URL(baseUrl).host) throw new OutboundError('refused', 'this service does not mirror itself')
  return allowedAddresses(readHostPolicy(config.migrationsAllowedHosts), hostname.replace(/^\[|\]$/g, ''))
}

interface StoredRemote {
  url: string
  credentials: Uint8Array | null
}

/** @throws OutboundError as `judgeHost`; Refusal 503 where the credentials were sealed with another secret key */
export async function openRemote(context: Context, { url, credentials }: StoredRemote): Promise<Remote> {
  if (url.startsWith('git:') && !context.config.migrationsGitProtocol)
    throw new OutboundError('refused', 'git:// is switched off here (MIGRATIONS_GIT_PROTOCOL)')
  return { url, addresses: await judgeHost(context, url), credentials: openCredentials(context, credentials) }
}

export const sealCredentials = ({ secrets }: Context, credentials: RemoteCredentials | undefined): Uint8Array | null =>
  credentials === undefined ? null : secrets.seal(PURPOSE, JSON.stringify(credentials))

/** @throws Refusal 503 where they were sealed with another secret key */
export function openCredentials({ secrets }: Context, sealed: Uint8Array | null): RemoteCredentials | undefined {
  if (sealed === null) return undefined
  const value: unknown = JSON.parse(secrets.open(PURPOSE, sealed))
  if (!Value.Check(Credentials, value)) throw new Error('sealed credentials of a mirror have another shape')
  return value
}
