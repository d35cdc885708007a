import { and, eq, or } from 'drizzle-orm'
import { anyOf } from '../../../db/any-of.ts'
import { rowVersion } from '../../../db/row-version.ts'
import { emails, type UserRow, users } from '../../../db/schema/users.ts'
import { isServiceAddress, isSigningAddress } from '../../access/service-addresses.ts'
import { visibleAccounts } from '../../access/visible-accounts.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { readNoreplyAddress } from '../../wire/user.ts'

export interface People {
  /** By e-mail address in lower case. */
  accounts: ReadonlyMap<string, UserRow>
  /** Changes with each of the accounts. */
  version: string
}

/**
 * The accounts behind addresses in commits, by address in lower case: confirmed addresses, and those that stand for hidden ones.
 * One statement, and one more only when addresses of the second kind occur. Accounts that the reader may not know of are left
 * out: a commit with a guessed address must not find them.
 */
export async function findAccountsByEmail(
  context: Context,
  actor: Actor | undefined,
  addresses: readonly string[],
): Promise<People> {
  const { db, config } = context
  const all = [...new Set(addresses.map((address) => address.toLowerCase()))].filter((address) => address !== '')
  // An address of the service is nobody's own, even where a row says so.
  const wanted = all.filter((address) => !isServiceAddress(address, config))
  const standIns = all
    .filter((address) => !isSigningAddress(address, config))
    .flatMap((address) => readStandIn(address, config.noreplyDomain) ?? [])
  const isVisible = visibleAccounts(config, actor)
  const [owned, hidden] = await Promise.all([
    wanted.length === 0
      ? []
      : db
          .select({ email: emails.lowerEmail, user: users, version })
          .from(emails)
          .innerJoin(users, eq(users.id, emails.userId))
          .where(and(anyOf(emails.lowerEmail, wanted), eq(emails.isActivated, true), isVisible)),
    standIns.length === 0
      ? []
      : db
          .select({ user: users, version })
          .from(users)
          .where(and(eq(users.kind, 'user'), isVisible, named(standIns))),
  ])
  const accounts = new Map(owned.map(({ email, user }) => [email, user]))
  for (const { address, id, name } of standIns) {
    const match = hidden.find(({ user }) => (id === undefined ? user.lowerName === name : user.id === id))
    if (match) accounts.set(address, match.user)
  }
  const versions = [...owned.map((row) => `${row.email} ${row.version}`), ...hidden.map((row) => row.version)]
  return { accounts, version: versions.join(' ') }
}

const version = rowVersion(users)

interface StandIn {
  address: string
  id: number | undefined
  name: string
}

function readStandIn(address: string, domain: string): StandIn | undefined {
  const person = readNoreplyAddress(address, domain)
  return person && { address, ...person }
}

const named = (standIns: readonly StandIn[]) =>
  or(
    anyOf(
      users.id,
      standIns.flatMap(({ id }) => id ?? []),
    ),
    anyOf(
      users.lowerName,
      standIns.filter(({ id }) => id === undefined).map(({ name }) => name),
    ),
  )
