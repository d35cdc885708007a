import { BlockList, isIP, isIPv6 } from 'node:net'

/** What counts as one place to come from: an IPv4 address, or the /64 that one customer of a provider has of IPv6. */
export function networkOf(address: string): string {
  const plain = plainAddress(address) ?? address
  return isIPv6(plain) ? `${groupsOf(plain).slice(0, 4).join(':')}::/64` : plain
}

/**
 * An address without port, brackets, quotes and zone; an IPv4 address also where it came over a socket of both families (RFC 4291,
 * 2.5.5.2). Undefined for what is no address.
 */
export function plainAddress(text: string): string | undefined {
  const unquoted = text.trim().replace(/^"(.*)"$/, '$1')
  const [, inBrackets, withPort] = /^\[([^\]]*)\](?::\d+)?$|^([\d.]+):\d+$/.exec(unquoted) ?? []
  const [address = ''] = (inBrackets ?? withPort ?? unquoted).split('%', 1)
  if (isIP(address) === 0) return undefined
  if (!isIPv6(address)) return address
  const groups = groupsOf(address)
  const isMapped = groups.slice(0, 6).join(':') === '0:0:0:0:0:ffff'
  return isMapped ? groups.slice(6).flatMap(bytesOf).join('.') : address.toLowerCase()
}

/** The eight groups, without leading zeros, of an IPv6 address in whichever form it was written. */
function groupsOf(address: string): string[] {
  const hexadecimal = address.toLowerCase().replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...bytes: string[]) => {
    const [a = 0, b = 0, c = 0, d = 0] = bytes.slice(0, 4).map(Number)
    return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
  })
  const sides = hexadecimal.split('::').map((side) => side.split(':').filter((group) => group !== ''))
  const [before = [], after = []] = sides
  const zeros = new Array<string>(8 - before.length - after.length).fill('0')
  return [...before, ...zeros, ...after].map((group) => Number.parseInt(group, 16).toString(16))
}

function bytesOf(group: string): number[] {
  const value = Number.parseInt(group, 16)
  return [value >> 8, value & 0xff]
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
    const [address = '', bits] = entry.split('/')
    // A mapped address stands for the IPv4 address, which is what `has` is asked for.
    const plain = bits === undefined ? (plainAddress(address) ?? address) : address
    if (bits === undefined) list.addAddress(plain, familyOf(plain))
    else list.addSubnet(plain, Number(bits), familyOf(plain))
  }
  return {
    has(address) {
      const plain = plainAddress(address)
      return plain !== undefined && list.check(plain, familyOf(plain))
    },
  }
}

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIPv6(address) ? 'ipv6' : 'ipv4')
