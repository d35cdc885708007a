import type { UserRow } from '../../../db/schema/users.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import type { Sign, Signature } from '../../git/model.ts'
import { isEmailAddress } from '../../kernel/email.ts'
import { invalid } from '../../kernel/errors.ts'
import { givenTime } from '../../kernel/time.ts'
import { areAddressesOf } from '../../signatures/addresses.ts'
import { noreplyAddress } from '../../wire/user.ts'
import type { CommitOptions, Identity } from './schema.ts'

/**
 * Who a commit says made it. Wire: one given identity stands for both; without any it is the caller, under the address that the
 * caller shows; a date without an identity counts too.
 * @throws Refusal 422 for a text that is no address
 */
export function signaturesOf(
  context: Context,
  user: UserRow,
  { author, committer, dates }: CommitOptions,
): { author: Signature; committer: Signature } {
  const [asAuthor, asCommitter] = [readIdentity(user, author, 'author'), readIdentity(user, committer, 'committer')]
  const own = ownIdentity(context, user)
  const now = { date: context.clock.now(), offsetMinutes: 0 }
  return {
    author: { ...(asAuthor ?? asCommitter ?? own), ...(readDate(dates?.author) ?? now) },
    committer: { ...(asCommitter ?? asAuthor ?? own), ...(readDate(dates?.committer) ?? now) },
  }
}

/**
 * How the instance signs a commit of the caller; undefined where it does not. It vouches for its callers, not for whom they name: a commit
 * with an author or a committer under the address of anybody else stays without its signature.
 */
export async function signFor(
  context: Context,
  { user }: Actor,
  { author, committer }: { author: Signature; committer: Signature },
): Promise<Sign | undefined> {
  const { key } = context.signing
  if (!key) return undefined
  return (await areAddressesOf(context, user, [author.email, committer.email])) ? key.sign : undefined
}

interface Name {
  name: string
  email: string
}

function readIdentity(user: UserRow, identity: Identity | undefined, field: string): Name | undefined {
  const email = identity?.email?.trim() ?? ''
  if (email === '') return undefined
  if (!isEmailAddress(email)) throw invalid('Email', `${field}.email`)
  return { email, name: identity?.name?.trim() || nameOf(user) }
}

const nameOf = (user: UserRow): string => user.fullName.trim() || user.name

/** The name that an account shows in commits and tags, and the address, which may be one that hides the real one. */
export const ownIdentity = ({ config }: Context, user: UserRow): Name => ({
  name: nameOf(user),
  email: user.keepEmailPrivate ? noreplyAddress(user, config) : user.email,
})

/** With the zone that the client wrote. */
function readDate(text: string | undefined): Pick<Signature, 'date' | 'offsetMinutes'> | undefined {
  const date = givenTime(text)
  if (!date || text === undefined) return undefined
  const [, sign, hours, minutes] = /([+-])(\d{2}):(\d{2})$/.exec(text) ?? []
  const offset = Number(hours ?? 0) * 60 + Number(minutes ?? 0)
  return { date, offsetMinutes: sign === '-' ? -offset : offset }
}
