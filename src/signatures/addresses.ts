import { isServiceAddress, isSigningAddress } from '../access/service-addresses.ts'
import type { Context } from '../context.ts'
import { readNoreplyAddress } from '../wire/user.ts'
import { findAddressOwners, type Owner } from './store.ts'

/** Who owns which confirmed address, by address in lower case. */
export type AddressOwners = ReadonlyMap<string, number>

/**
 * Whether an address in a commit is the account's: a confirmed one, or the one that stands for it when its own is hidden. An address of
 * the service is nobody's, even where a row says so.
 */
export function isAddressOf(
  { id, name }: Owner,
  email: string,
  { owners, config }: { owners: AddressOwners; config: Context['config'] },
): boolean {
  const address = email.toLowerCase()
  if (!isServiceAddress(address, config)) return owners.get(address) === id
  const standIn = isSigningAddress(address, config) ? undefined : readNoreplyAddress(address, config.noreplyDomain)
  if (!standIn) return false
  return standIn.id === undefined ? standIn.name === name.toLowerCase() : standIn.id === id
}

/** The same for all of several addresses. */
export async function areAddressesOf(
  { db, config }: Pick<Context, 'db' | 'config'>,
  owner: Owner,
  emails: readonly string[],
): Promise<boolean> {
  const owners = await findAddressOwners(
    db,
    emails.map((email) => email.toLowerCase()),
  )
  return emails.every((email) => isAddressOf(owner, email, { owners, config }))
}
