import { domainToASCII } from 'node:url'
import type { Config } from '../config.ts'

type Settings = Pick<Config, 'noreplyDomain' | 'signingEmail'>

/** The address under which the service signs commits. */
export const signingAddress = ({ noreplyDomain, signingEmail }: Settings): string =>
  signingEmail ?? `hearth@${noreplyDomain}`

/**
 * Whether an address belongs to the service, so that no account may have it: the one that signs, and every address in the no-reply
 * domain. Those stand for accounts by their number or name, whoever asks for them.
 */
export function isServiceAddress(address: string, settings: Settings): boolean {
  const domain = domainOf(address)
  return domain === canonical(settings.noreplyDomain) || isSigningAddress(address, settings)
}

/** Whether it is the address that signs. It stands for no account, not even for one named like it. */
export function isSigningAddress(address: string, settings: Settings): boolean {
  const own = signingAddress(settings)
  return domainOf(address) === domainOf(own) && localOf(address) === localOf(own)
}

const domainOf = (address: string): string => canonical(address.slice(address.lastIndexOf('@') + 1))
const localOf = (address: string): string => address.slice(0, address.lastIndexOf('@')).toLowerCase()

/** One spelling for all that name the same domain: letter case, a dot at the end, and letters outside of ASCII. */
function canonical(domain: string): string {
  const bare = domain.trim().replace(/\.+$/, '').toLowerCase()
  // Empty for what is no domain name.
  return domainToASCII(bare) || bare
}
