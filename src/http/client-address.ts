import type { Config } from '../config.ts'
import { plainAddress } from '../kernel/network.ts'
import { exchangeOf } from './exchange.ts'

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
