import ipaddr from 'ipaddr.js'
import { GlobError, parseGlob } from './glob.ts'
import { type Address, parseAddress } from './network.ts'

/** Which hosts the service may connect to for its users. */
export interface HostPolicy {
  /** @param name as the address (URL) has it, without brackets; @param address what it resolved to, or the name itself */
  allows(name: string, address: string): boolean
}

/** A word of the setting that means nothing. */
export class HostRuleError extends Error {}

type Rule = (name: string, address: Address) => boolean

/**
 * Reads a list as Gitea's ALLOWED_HOST_LIST: `external` (public addresses), `private` (of local networks), `loopback`, `*`, networks such
 * as `10.1.0.0/16`, addresses, and names with `*` and `?`. A named host is allowed wherever it leads.
 * @throws HostRuleError that names the word
 */
export function readHostPolicy(words: readonly string[]): HostPolicy {
  const rules = words.map(ruleOf)
  return {
    allows(name, text) {
      const address = parseAddress(text)
      return address !== undefined && rules.some((rule) => rule(name.toLowerCase().replace(/\.$/, ''), address))
    },
  }
}

/** Whether the word can stand in such a list. */
export function isHostRule(word: string): boolean {
  try {
    ruleOf(word)
    return true
  } catch (error) {
    if (error instanceof HostRuleError) return false
    throw error
  }
}

const LOCAL_RANGES: readonly string[] = ['private', 'uniqueLocal', 'loopback']

/** All public addresses of IPv6 (https://www.iana.org/assignments/ipv6-address-space): the library knows not every range beside it. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3')

const isPublic = (address: ipaddr.IPv4 | ipaddr.IPv6): boolean =>
  address.range() === 'unicast' && (address.kind() === 'ipv4' || address.match(GLOBAL_IPV6))

function ruleOf(word: string): Rule {
  switch (word.toLowerCase()) {
    case '*':
      return () => true
    case 'external':
      return (_, address) => isPublic(address)
    case 'private':
      return (_, address) => LOCAL_RANGES.includes(address.range())
    case 'loopback':
      return (_, address) => address.range() === 'loopback'
  }
  if (ipaddr.isValidCIDR(word)) {
    const network = ipaddr.parseCIDR(word)
    return (_, address) => address.kind() === network[0].kind() && address.match(network)
  }
  const single = parseAddress(word)
  if (single !== undefined) return (_, address) => address.toString() === single.toString()
  return nameRule(word)
}

function nameRule(word: string): Rule {
  if (!/^[\p{L}\p{N}.*?_-]+$/u.test(word)) throw new HostRuleError(`${word} is no host name, network or known word`)
  try {
    const glob = parseGlob(word.toLowerCase())
    return (name) => glob.matches(name)
  } catch (error) {
    throw error instanceof GlobError ? new HostRuleError(`${word}: ${error.message}`) : error
  }
}
