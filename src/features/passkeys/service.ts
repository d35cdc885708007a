import type { TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { PasskeyRow } from '../../../db/schema/passkeys.ts'
import type { SessionRow } from '../../../db/schema/sessions.ts'
import type { UserRow } from '../../../db/schema/users.ts'
import { violatedConstraint } from '../../../db/violations.ts'
import { recordAudit } from '../../audit/record.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { badRequest, invalid, notFound } from '../../kernel/errors.ts'
import { messageOf } from '../../kernel/thrown.ts'
import { mailLetter } from '../../mail/send.ts'
import { requireWayIn } from '../auth-sources/ways-in.ts'
import { passkeyAdded } from '../users/letters.ts'
import { lockAccount } from '../users/lock.ts'
import { type ChallengePurpose, expiryOf, makeChallenge } from './challenge.ts'
import { loadWebAuthn } from './library.ts'
import { Assertion, NewCredential } from './schema.ts'
import {
  countPasskeys,
  findPasskey,
  insertPasskey,
  listPasskeys,
  recordSignature,
  removePasskey,
  takeChallenge,
} from './store.ts'

const TIMEOUT_MS = 300_000
/** More devices than anybody has; each is named to the browser when another is added. */
const MAX_PASSKEYS = 25
/** EdDSA, ES256, RS256 (RFC 9053). */
const ALGORITHMS = [-8, -7, -257]

export type SignedIn = Actor & { session: SessionRow }

/** What the browser is asked for when a passkey is added (`PublicKeyCredentialCreationOptionsJSON`). */
export async function creationOptions(context: Context, { user, session }: SignedIn) {
  const known = await listPasskeys(context.db, user.id)
  return {
    rp: { id: rpIdOf(context), name: 'Hearth' },
    user: { id: handleOf(context, user), name: user.name, displayName: user.fullName || user.name },
    challenge: makeChallenge(context, purposeOf(session)),
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
    excludeCredentials: known.map(({ credentialId, transports }) => ({
      type: 'public-key',
      id: credentialId,
      transports,
    })),
    // The device knows whose key it is, and who holds it: the passkey stands for name, password and second factor.
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    attestation: 'none',
    timeout: TIMEOUT_MS,
  }
}

/** The same for signing in (`PublicKeyCredentialRequestOptionsJSON`). The device offers what it has. */
export const requestOptions = (context: Context) => ({
  challenge: makeChallenge(context, 'sign-in'),
  rpId: rpIdOf(context),
  userVerification: 'required',
  timeout: TIMEOUT_MS,
})

/**
 * Adds the passkey that a device has made.
 * @param sent what the browser gave, as JSON
 * @throws Refusal 400 for what is no answer to our question, 422 for a name that cannot be, and for a passkey that is known
 */
export async function addPasskey(
  context: Context,
  actor: SignedIn,
  { name, sent }: { name: string; sent: string },
): Promise<PasskeyRow> {
  const { user } = actor
  if (name === '' || name.length > 100) throw invalid(name === '' ? 'Required' : 'MaxSize', 'name')
  const response = read(NewCredential, sent)
  const { verifyRegistrationResponse } = await loadWebAuthn()
  const asked = expectChallenge(context, purposeOf(actor.session))
  const { registrationInfo } = await verified(context, () =>
    verifyRegistrationResponse({ response, ...expectations(context), expectedChallenge: asked.check }),
  )
  if (!registrationInfo) throw unverified()
  const { id: credentialId, publicKey, counter } = registrationInfo.credential
  const transports = response.response.transports ?? []
  try {
    return await context.db.transaction(async (tx) => {
      await lockAccount(tx, user.id)
      await asked.take(tx)
      const values = { userId: user.id, name, credentialId, publicKey, signCount: counter, transports }
      const row = await insertPasskey(tx, values)
      if ((await countPasskeys(tx, user.id)) > MAX_PASSKEYS) throw invalid(`at most ${MAX_PASSKEYS} passkeys`)
      await recordAudit(tx, actor, { action: 'passkey.create', subject: subjectOf(row), after: { owner: user.name } })
      await mailLetter(context, tx, passkeyAdded({ user, by: actor, baseUrl: context.baseUrl }, name))
      return row
    })
  } catch (error) {
    if (violatedConstraint(error) !== 'passkeys_credential_key') throw error
    throw invalid('this passkey is known already')
  }
}

/** @throws Refusal 404 when this person has no such passkey, 422 when nothing would be left to sign in with */
export async function deletePasskey(context: Context, actor: Actor, id: number | undefined): Promise<void> {
  await context.db.transaction(async (tx) => {
    await lockAccount(tx, actor.user.id)
    const gone = id === undefined ? undefined : await removePasskey(tx, actor.user.id, id)
    if (!gone) throw notFound()
    await requireWayIn(tx, actor.user.id)
    const before = { owner: actor.user.name }
    await recordAudit(tx, actor, { action: 'passkey.delete', subject: subjectOf(gone), before })
  })
}

/**
 * Who signs in with a passkey. The device has asked for a finger, a face or a number, so no second factor is asked for.
 * @throws Refusal 400 for what is no answer to our question, and for a passkey that nobody has
 */
export async function judgePasskey(context: Context, sent: string): Promise<UserRow> {
  const response = read(Assertion, sent)
  const found = await findPasskey(context.db, response.id)
  if (!found) throw badRequest('this passkey is not known here')
  const { passkey, user } = found
  const { verifyAuthenticationResponse } = await loadWebAuthn()
  const asked = expectChallenge(context, 'sign-in')
  const credential = {
    id: passkey.credentialId,
    publicKey: new Uint8Array(passkey.publicKey),
    counter: passkey.signCount,
    transports: passkey.transports,
  }
  const { verified: isRight, authenticationInfo } = await verified(context, () =>
    verifyAuthenticationResponse({ response, ...expectations(context), expectedChallenge: asked.check, credential }),
  )
  if (!isRight) throw unverified()
  await context.db.transaction(async (tx) => {
    await asked.take(tx)
    const signature = { count: authenticationInfo.newCounter, now: context.clock.now() }
    if (!(await recordSignature(tx, passkey.id, signature))) throw unverified()
  })
  return user
}

const expectations = (context: Context) => ({
  expectedOrigin: new URL(context.baseUrl).origin,
  expectedRPID: rpIdOf(context),
  requireUserVerification: true,
})

/** Takes a challenge of ours, and each once. */
function expectChallenge(context: Context, purpose: ChallengePurpose) {
  let answered: { challenge: string; expiresAt: Date } | undefined
  return {
    check(challenge: string): boolean {
      const expiresAt = expiryOf(context, purpose, challenge)
      answered = expiresAt && { challenge, expiresAt }
      return answered !== undefined
    },
    async take(tx: Context['db']): Promise<void> {
      if (!answered || !(await takeChallenge(tx, answered.challenge, answered.expiresAt))) throw unverified()
    },
  }
}

/** The library throws whatever is wrong: another challenge, origin or site, a count that goes back, nobody who was asked. */
async function verified<Result>({ log }: Context, verify: () => Promise<Result>): Promise<Result> {
  try {
    return await verify()
  } catch (error) {
    log.info({ reason: messageOf(error) }, 'a passkey was not taken')
    throw unverified()
  }
}

const unverified = () => badRequest('the passkey was not taken, or it took too long: try again')

function read<Schema extends TSchema>(schema: Schema, sent: string): Schema['static'] {
  const value = parse(sent)
  if (!Value.Check(schema, value)) throw unverified()
  return value
}

function parse(sent: string): unknown {
  try {
    return JSON.parse(sent)
  } catch {
    // Checked next.
    return undefined
  }
}

const purposeOf = ({ secretHash }: SessionRow): ChallengePurpose => `session ${secretHash}`

const rpIdOf = ({ baseUrl }: Context): string => new URL(baseUrl).hostname

/**
 * WebAuthn, 14.6.1: a user handle reveals nothing about the person. It is not compared when somebody signs in: it is not signed, the passkey
 * itself tells whose it is, and another secret key makes another one.
 */
const handleOf = ({ secrets }: Context, { id }: UserRow): string =>
  Buffer.from(secrets.sign('passkey owner', String(id))).toString('base64url')

const subjectOf = ({ id, name }: PasskeyRow) => ({ kind: 'passkey', id, name })
