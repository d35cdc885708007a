import { BlockList, isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

export type Address = ipaddr.IPv4 | ipaddr.IPv6

/**
 * An address as a value. IPv6 forms of an IPv4 address count as that address (RFC 4291, 2.5.5). Undefined for what is no address: the
 * library alone takes `127.1` for one.
 */
export const parseAddress = (text: string): Address | undefined => (isIP(text) === 0 ? undefined : ipaddr.process(text))

/** What counts as one place to come from: an IPv4 address, or the /64 that one customer of a provider has of IPv6. */
export function networkOf(text: string): string {
  const address = parseAddress(withoutPort(text))
  if (!(address instanceof ipaddr.IPv6)) return address?.toString() ?? text
  const groups = address.parts.slice(0, 4).map((part) => part.toString(16))
  return `${groups.join(':')}::/64`
}

/** An address without port, brackets, quotes and zone, in its short form. Undefined for what is no address. */
export const plainAddress = (text: string): string | undefined => parseAddress(withoutPort(text))?.toString()

function withoutPort(text: string): string {
  const unquoted = text.trim().replace(/^"(.*)"$/, '$1')
  const [, inBrackets, withPort] = /^\[([^\]]*)\](?::\d+)?$|^([\d.]+):\d+$/.exec(unquoted) ?? []
  return (inBrackets ?? withPort ?? unquoted).replace(/%.*$/, '')
}

/** A set of addresses and networks. */
export interface Networks {
  has(address: string): boolean
}

/** Whether a text is an address, or a network such as `10.0.0.0/8`. */
export function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const version = isIP(address)
  if (version === 0 || rest.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 6 ? 128 : 32))
}

/** @param entries each of them as `isNetwork` wants it */
export function parseNetworks(entries: readonly string[]): Networks {
  const list = new BlockList()
  for (const entry of entries) {
    const [text = '', bits] = entry.split('/')
    // A single mapped address stands for the IPv4 address, which is what `has` asks for.
    const address = bits === undefined ? parseAddress(text) : ipaddr.parse(text)
    if (bits !== undefined) list.addSubnet(text, Number(bits), address?.kind())
    else if (address !== undefined) list.addAddress(address.toString(), address.kind())
  }
  return {
    has(text) {
      const address = parseAddress(withoutPort(text))
      return address !== undefined && list.check(address.toString(), address.kind())
    },
  }
}
