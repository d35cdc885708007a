import { isIPv6 } from 'node:net'
import type { Actor } from '../auth/actor.ts'
import type { Context } from '../context.ts'
import type { Client } from '../git/model.ts'
import { clientAddress } from './client-address.ts'

/** For whom Git works: an account, or the address of a visitor. One client gets a part of all places for Git processes only. */
export function gitClient({ config }: Pick<Context, 'config'>, request: Request, actor: Actor | undefined): Client {
  return clientOf(actor, clientAddress(config, request))
}

/** The same where there is no request. */
export function clientOf(actor: Actor | undefined, address: string | undefined): Client {
  if (actor) return { key: `account ${actor.user.id}`, isSignedIn: true }
  return { key: `address ${address === undefined ? 'unknown' : networkOf(address)}`, isSignedIn: false }
}

/** A subscriber has a whole /64 of IPv6, and so as many addresses as they like. */
function networkOf(address: string): string {
  if (!isIPv6(address)) return address
  const [head = '', tail = ''] = address.split('%', 1)[0]?.split('::') ?? []
  const [before, behind] = [head, tail].map((part) => (part === '' ? [] : part.split(':')))
  const zeros = Array.from({ length: Math.max(0, 8 - (before?.length ?? 0) - (behind?.length ?? 0)) }, () => '0')
  const groups = address.includes('::') ? [...(before ?? []), ...zeros, ...(behind ?? [])] : (before ?? [])
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')
}
