import { Secret } from 'otpauth'
import { renderSVG } from 'uqr'
import type { SessionRow } from '../../../db/schema/sessions.ts'
import type { UserRow } from '../../../db/schema/users.ts'
import { recordAudit } from '../../audit/record.ts'
import type { Actor } from '../../auth/actor.ts'
import { otpauthUrl, stepOfCode } from '../../auth/one-time-codes.ts'
import { endSessions } from '../../auth/sessions.ts'
import { recoveryCodeHash } from '../../auth/two-factor.ts'
import type { Context } from '../../context.ts'
import { conflict, invalid, notFound } from '../../kernel/errors.ts'
import { randomHex } from '../../kernel/hashing.ts'
import { mailLetter } from '../../mail/send.ts'
import { twoFactorOff } from '../users/letters.ts'
import {
  confirmEnrolment,
  lockEnrolment,
  lockTwoFactor,
  removeTwoFactor,
  replaceRecoveryCodes,
  upsertEnrolment,
} from './store.ts'

/** RFC 4226, section 4, recommends 160 bits. */
const SECRET_BYTES = 20
const RECOVERY_CODES = 10
/** 80 bits each. Nobody guesses these, so a plain hash is enough. */
const RECOVERY_CODE_BYTES = 10

export interface Enrolment {
  secret: string
  url: string
  qrSvg: string
}

/**
 * Begins an enrolment; it counts once it is confirmed with a code.
 * @throws Refusal 409 while a confirmed one is there
 */
export async function enrol(
  context: Context,
  { user }: Actor,
  secret = new Secret({ size: SECRET_BYTES }).base32,
): Promise<Enrolment> {
  const { db, secrets } = context
  if (!(await upsertEnrolment(db, user.id, secrets.seal('two-factor', secret)))) throw isOn()
  return describeEnrolment(context, user, secret)
}

/** What an authenticator has to know. */
function describeEnrolment({ baseUrl }: Context, { name }: UserRow, secret: string): Enrolment {
  const url = otpauthUrl(secret, { issuer: new URL(baseUrl).host, account: name })
  return { secret, url, qrSvg: renderSVG(url) }
}

/**
 * The same for a page, where showing it changes nothing: the secret is that of the session, and is stored once a code of it is given back.
 */
export const offerEnrolment = (context: Context, user: UserRow, session: SessionRow): Enrolment =>
  describeEnrolment(context, user, offeredSecrets(context, session)[0])

/** Begins the enrolment that was offered. The code tells which it was, where the secret key has changed since. */
export function enrolOffered(context: Context, actor: Actor, { session, code }: { session: SessionRow; code: string }) {
  const [offered, ...earlier] = offeredSecrets(context, session)
  const now = context.clock.now()
  const secret = earlier.find((one) => stepOfCode(one, code.trim(), now) !== undefined) ?? offered
  return enrol(context, actor, secret)
}

/** The first is the one that is offered now. */
function offeredSecrets({ secrets }: Context, { secretHash }: SessionRow): [string, ...string[]] {
  const secretOf = (bytes: Uint8Array) => new Secret({ buffer: bytes.slice(0, SECRET_BYTES).buffer }).base32
  const [ours, ...others] = secrets.signatures('two-factor offer', secretHash)
  return [secretOf(ours), ...others.map(secretOf)]
}

const isOn = () => conflict('two-factor authentication is on already')

/**
 * Switches it on, and makes the recovery codes. Sessions that began without it end, but for the one that does this.
 * @throws Refusal 404 without an enrolment, 409 when it is on already, 422 for a wrong code, also of one that was begun again meanwhile
 */
export async function confirm(context: Context, actor: Actor, code: string): Promise<string[]> {
  const { db, clock, secrets } = context
  const { user } = actor
  const codes = makeRecoveryCodes()
  await db.transaction(async (tx) => {
    const found = await lockEnrolment(tx, user.id)
    if (found === undefined) throw notFound()
    if (found.confirmedAt) throw isOn()
    const now = clock.now()
    const step = stepOfCode(secrets.open('two-factor', found.secret), code.trim(), now)
    if (step === undefined) throw invalid('is not what the application shows now', 'code')
    await confirmEnrolment(tx, user.id, { at: now, step })
    await replaceRecoveryCodes(tx, user.id, codes.map(recoveryCodeHash))
    await endSessions(tx, user.id, actor.session)
    await recordAudit(tx, actor, { action: 'user.two_factor_on', subject: subjectOf(user) })
  })
  return codes
}

/** New codes in place of all old ones. @throws Refusal 404 when it is off */
export async function renewRecoveryCodes({ db }: Context, actor: Actor): Promise<string[]> {
  const { user } = actor
  const codes = makeRecoveryCodes()
  await db.transaction(async (tx) => {
    if (!(await lockTwoFactor(tx, user.id))) throw notFound()
    await replaceRecoveryCodes(tx, user.id, codes.map(recoveryCodeHash))
    await recordAudit(tx, actor, { action: 'user.recovery_codes_renew', subject: subjectOf(user) })
  })
  return codes
}

/** By the person, whose password and code the gate has seen, or by an administrator. @throws Refusal 404 when it is off */
export async function switchOff(context: Context, { user, by }: { user: UserRow; by: Actor }): Promise<void> {
  await context.db.transaction(async (tx) => {
    if (!(await removeTwoFactor(tx, user.id))) throw notFound()
    await endSessions(tx, user.id, by.user.id === user.id ? by.session : undefined)
    await recordAudit(tx, by, { action: 'user.two_factor_off', subject: subjectOf(user) })
    await mailLetter(context, tx, twoFactorOff({ user, by, baseUrl: context.baseUrl }))
  })
}

/** As `12345-67890-abcde-f0123`: hexadecimal, in groups that can be read aloud. */
const makeRecoveryCodes = (): string[] =>
  Array.from({ length: RECOVERY_CODES }, () => randomHex(RECOVERY_CODE_BYTES).replace(/(.{5})(?=.)/g, '$1-'))

const subjectOf = (user: UserRow) => ({ kind: 'user', id: user.id, name: user.name })
