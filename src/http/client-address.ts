import { BlockList, isIP } from 'node:net'
import type { Config } from '../config.ts'
import { peerAddress } from './connection.ts'

type ProxyConfig = Pick<Config, 'trustedProxies'>

const trustedByConfig = new WeakMap<ProxyConfig, BlockList>()

function trustedProxies(config: ProxyConfig): BlockList {
  const known = trustedByConfig.get(config)
  if (known) return known
  const list = new BlockList()
  for (const entry of config.trustedProxies) {
    const [address = '', bits] = entry.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (isIP(address) === 0) continue
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(bits), family)
  }
  trustedByConfig.set(config, list)
  return list
}

/**
 * The address that a request came from. `X-Forwarded-For` counts only as far as trusted proxies wrote it: from the right, the
 * first address that is not one of theirs. Undefined without a connection.
 */
export function clientAddress(config: ProxyConfig, request: Request): string | undefined {
  const peer = peerAddress(request)
  if (peer === undefined || config.trustedProxies.length === 0) return peer
  const trusted = trustedProxies(config)
  const isTrusted = (address: string) => {
    const version = isIP(address)
    return version !== 0 && trusted.check(address, version === 6 ? 'ipv6' : 'ipv4')
  }
  const hops = (request.headers.get('x-forwarded-for') ?? '').split(',').map((hop) => hop.trim())
  let client = peer
  while (isTrusted(client)) {
    const hop = hops.pop()
    if (hop === undefined || isIP(hop) === 0) break
    client = hop
  }
  return client
}
