import type { AuthSourceRow } from '../../../db/schema/auth-sources.ts'
import type { PendingIdentityRow } from '../../../db/schema/external-identities.ts'
import type { UserRow } from '../../../db/schema/users.ts'
import { networkOfOrigin, type RequestOrigin } from '../../auth/origin.ts'
import type { Config } from '../../config.ts'
import type { Context } from '../../context.ts'
import { spend } from '../../http/rate-limit.ts'
import { conflict, forbidden, invalid, Refusal } from '../../kernel/errors.ts'
import { randomHex, sha256Hex } from '../../kernel/hashing.ts'
import { createUser } from '../users/create.ts'
import { lockAccount } from '../users/lock.ts'
import { applyGroups } from './groups.ts'
import { findIdentityOwner, recordIdentityUse } from './identity-store.ts'
import type { ExternalPerson } from './person.ts'
import { findPending, insertPending, type Pending, takePending } from './store.ts'

/** Time to say which account it is. */
export const NEWCOMER_SECONDS = 1800
const HANDLE = /^[0-9a-f]{64}$/
/** From one network: a company may come for the first time together, and its provider knows each of them. */
const FROM_NETWORK = { requests: 300, seconds: 3600 }

/** Whose account somebody who came from a source has. */
export interface Owner {
  user: UserRow
  identityId: number
}

/** Undefined for somebody who belongs to no account yet. What the source says of their groups holds from now on. */
function findOwner(
  context: Context,
  source: AuthSourceRow,
  { subject, label, profile }: ExternalPerson,
): Promise<Owner | undefined> {
  return context.db.transaction(async (tx) => {
    const found = await findIdentityOwner(tx, { sourceId: source.id, subject })
    if (!found) return undefined
    const { user, identity } = found
    const owner = { user, identityId: identity.id }
    if (!user.isActive || user.prohibitLogin) return owner
    // The person before what belongs to them, as whoever deletes them locks it.
    if (!(await lockAccount(tx, user.id))) return undefined
    if (!(await recordIdentityUse(tx, identity.id, { label, now: context.clock.now() }))) return undefined
    await applyGroups(tx, { source, user, groups: profile.groups })
    return owner
  })
}

/** Whether somebody may get an account by coming from a source. */
export const mayRegister = ({ allowRegistration }: Config, { registration }: AuthSourceRow): boolean =>
  registration === 'site' ? allowRegistration : registration !== 'closed'

interface Arrival {
  source: AuthSourceRow
  person: ExternalPerson
  origin: RequestOrigin
  /** Then they may want to connect the account that they are signed in with. */
  isSignedIn: boolean
}

/**
 * Whose account somebody who came from a source has. Where the source says so, somebody new gets one at once, as it describes them.
 * @returns undefined where they have to choose: a name, an address, or an account that they have
 * @throws Refusal 429 for too many new ones from one network
 */
export async function arrive(context: Context, arrival: Arrival): Promise<Owner | undefined> {
  const { source, person, isSignedIn } = arrival
  const owner = await findOwner(context, source, person)
  if (owner || isSignedIn || source.registration === 'ask' || !mayRegister(context.config, source)) return owner
  const { name, email } = person.profile
  if (name === '' || email === '') return undefined
  try {
    await makeAccount(context, { ...arrival, name, email })
  } catch (error) {
    // The name or the address is somebody's, or was taken by the same person at this moment.
    if (!(error instanceof Refusal) || ![400, 409, 422].includes(error.status)) throw error
  }
  return findOwner(context, source, person)
}

interface NewMember {
  source: AuthSourceRow
  person: Pick<ExternalPerson, 'subject' | 'label' | 'profile'>
  name: string
  email: string
  origin: RequestOrigin
  /** Uses up, in the same transaction, what gives the right to it. */
  claim?: (tx: Context['db']) => Promise<void>
}

async function makeAccount(context: Context, member: NewMember): Promise<UserRow> {
  const { source, person, name, email, origin, claim } = member
  const { subject, profile } = person
  const isEmailProven = profile.isEmailVerified && email === profile.email
  if (context.config.confirmEmails && !isEmailProven)
    throw invalid(`has to be one that ${source.label} has confirmed`, 'email')
  await spend(context, `newcomer:${networkOfOrigin(origin)}`, FROM_NETWORK)
  return context.db.transaction(async (tx) => {
    await claim?.(tx)
    const password = { hash: '' }
    const { fullName } = profile
    const identity = { sourceId: source.id, loginName: subject }
    const account = { name, email, password, fullName, ...identity, by: 'system', isEmailProven } as const
    const user = await createUser(context, account, tx)
    await applyGroups(tx, { source, user, groups: profile.groups })
    return user
  })
}

/** Keeps somebody until they have said which account is theirs. @returns what their browser is given */
export async function keepNewcomer(
  { db, clock }: Context,
  { source, person, redirectTo }: { source: AuthSourceRow; person: ExternalPerson; redirectTo: string | undefined },
): Promise<string> {
  const handle = randomHex(32)
  const expiresAt = new Date(clock.now().getTime() + NEWCOMER_SECONDS * 1000)
  await insertPending(db, {
    handleHash: sha256Hex(handle),
    sourceId: source.id,
    ...person,
    redirectTo: redirectTo ?? null,
    expiresAt,
  })
  return handle
}

/** Whom a browser has brought back from a source; undefined when it was nobody, too long ago, or is settled. */
export async function findNewcomer({ db, clock }: Context, handle: string | undefined): Promise<Pending | undefined> {
  return handle === undefined || !HANDLE.test(handle) ? undefined : findPending(db, sha256Hex(handle), clock.now())
}

/**
 * Makes the account that a newcomer asks for. An address that the source has confirmed is taken as it is.
 * @throws Refusal 403 where nobody may register by it, 422 or 400 for what cannot be taken, 409 when it was done already, 429 for too many
 * from one network
 */
export async function registerNewcomer(
  context: Context,
  { pending, source }: Pending,
  { name, email, origin }: { name: string; email: string; origin: RequestOrigin },
): Promise<UserRow> {
  if (!mayRegister(context.config, source)) throw forbidden('accounts are made by the administrators here')
  const { isEmailVerified, email: confirmed } = pending.profile
  const claim = (tx: Context['db']) => takeOnce(tx, pending)
  const account = { source, person: pending, name, email: isEmailVerified ? confirmed : email, origin, claim }
  return makeAccount(context, account)
}

/** @throws Refusal 409 when it was settled already */
export async function takeOnce(tx: Context['db'], pending: PendingIdentityRow): Promise<void> {
  if (!(await takePending(tx, pending))) throw conflict('this was settled already: begin again')
}
