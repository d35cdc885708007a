import type { Actor } from '../auth/actor.ts'
import type { Context } from '../context.ts'
import type { Client } from '../git/model.ts'
import { networkOf } from '../kernel/network.ts'
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
