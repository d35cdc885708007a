import * as openid from 'openid-client'
import type { AuthSourceRow } from '../../../db/schema/auth-sources.ts'
import type { ExternalProfile } from '../../../db/schema/external-identities.ts'
import type { Context } from '../../context.ts'
import { isEmailAddress } from '../../kernel/email.ts'
import { badRequest, forbidden } from '../../kernel/errors.ts'
import { constantTimeEqual } from '../../kernel/hashing.ts'
import { takeChallenge } from '../passkeys/store.ts'
import { callbackUrl, type Flow } from './flow.ts'
import { askProvider } from './provider.ts'

/** Somebody whom a source has signed in. */
export interface ExternalPerson {
  subject: string
  /** What the source calls them. */
  label: string
  profile: ExternalProfile
  /** When they signed in there. */
  authenticatedAt: Date
}

type Claims = Readonly<Record<string, unknown>>

/** Of a subject, as OpenID Connect Core, 2 has it, and of whatever else is compared. */
const MAX_TEXT = 255
const MAX_FULL_NAME = 100
const MAX_GROUPS = 1000

/**
 * Who came back from a source: the answer is of this source, to this browser, and taken once.
 * @param search the query of the address that the browser was sent back to
 * @throws Refusal 400 for any other answer, 403 for a no of the source and for somebody without the claim that it asks for, 503 where the
 * source cannot be reached
 */
export async function readPerson(
  context: Context,
  { source, flow }: { source: AuthSourceRow; flow: Flow },
  search: string,
): Promise<ExternalPerson> {
  const back = new URL(`${callbackUrl(context, source)}${search}`)
  await takeFlow(context, flow, back)
  const refusal = back.searchParams.get('error')
  const claims = await askProvider(context, source, async (configuration) => {
    const checks = { pkceCodeVerifier: flow.verifier, expectedState: flow.state, expectedNonce: flow.nonce }
    try {
      return await claimsFrom(
        configuration,
        await openid.authorizationCodeGrant(configuration, back, { ...checks, idTokenExpected: true }),
      )
    } catch (error) {
      // Only after the library has judged that the answer is of this source.
      if (error instanceof openid.AuthorizationResponseError && refusal !== null)
        throw forbidden(`${source.label} has not signed you in: ${refusal.replace(/[^\x20-\x7e]/g, '').slice(0, 100)}`)
      throw error
    }
  })
  requireClaim(source, claims)
  return personOf(context, source, claims)
}

/** Nobody is asked for a second answer, and no answer is taken twice: a code that was listened to is of no use. */
async function takeFlow(context: Context, flow: Flow, { searchParams }: URL): Promise<void> {
  const states = searchParams.getAll('state')
  const isOurs = states.length === 1 && constantTimeEqual(states[0] ?? '', flow.state)
  if (!isOurs || !(await takeChallenge(context.db, flow.state, new Date(flow.until * 1000))))
    throw badRequest('this answer belongs to no sign-in that was begun in this browser: begin again')
}

/** What the id token says, and what userinfo adds: some sources have groups and addresses only there. */
async function claimsFrom(
  configuration: openid.Configuration,
  tokens: openid.TokenEndpointResponse & openid.TokenEndpointResponseHelpers,
): Promise<Claims> {
  const claims = tokens.claims()
  if (claims === undefined) throw new Error('there is no id token')
  if (configuration.serverMetadata().userinfo_endpoint === undefined) return claims
  const told: Claims = await openid.fetchUserInfo(configuration, tokens.access_token, claims.sub)
  const both = { ...told, ...claims }
  // An address is confirmed by the answer that names it, and by no word about another one.
  const naming = claims.email === undefined ? told : claims.email === told.email ? both : claims
  return { ...both, email_verified: naming.email_verified }
}

/** @throws Refusal 403 */
function requireClaim({ label, requiredClaim, requiredValue }: AuthSourceRow, claims: Claims): void {
  if (requiredClaim === null) return
  const values = textsIn(claims, requiredClaim)
  if (requiredValue === null ? values.length > 0 : values.includes(requiredValue)) return
  throw forbidden(`${label} has signed you in, but you are not among those who may come in here`)
}

function personOf({ clock }: Context, source: AuthSourceRow, claims: Claims): ExternalPerson {
  const subject = typeof claims.sub === 'string' ? claims.sub : ''
  if (!isExact(subject)) throw badRequest(`${source.label} gives you no name that can be taken`)
  const email = typeof claims.email === 'string' && isEmailAddress(claims.email) ? claims.email : ''
  const preferred = shownText(claims.preferred_username, MAX_TEXT)
  return {
    subject,
    label: preferred || email || shownText(claims.name, MAX_TEXT) || subject,
    profile: {
      // Some sources call people by their address.
      name: (preferred || email).replace(/@.*$/, ''),
      fullName: shownText(claims.name, MAX_FULL_NAME),
      email,
      isEmailVerified: email !== '' && claims.email_verified === true,
      groups: source.groupClaim === null ? [] : textsIn(claims, source.groupClaim).slice(0, MAX_GROUPS),
    },
    authenticatedAt: signedInAt(claims, clock.now()),
  }
}

/** A source that asks nobody who has signed in there today says when that was. */
function signedInAt({ auth_time }: Claims, now: Date): Date {
  const at = typeof auth_time === 'number' ? new Date(auth_time * 1000) : now
  return at < now ? at : now
}

/**
 * A claim as texts, whether it is one or a list. They are compared with what gives rights here, so none is changed to fit: what is cut, or
 * loses a character, may become the name of something else.
 */
function textsIn(claims: Claims, name: string): string[] {
  const value = Object.hasOwn(claims, name) ? claims[name] : undefined
  return [value]
    .flat()
    .flatMap((one) =>
      typeof one === 'string' || typeof one === 'boolean' || typeof one === 'number' ? [String(one)] : [],
    )
    .filter(isExact)
}

const isExact = (text: string): boolean => text !== '' && text.length <= MAX_TEXT && text === plain(text)

/** What people read and nothing depends on: made to fit. */
const shownText = (value: unknown, length: number): string =>
  typeof value === 'string' ? plain(value).slice(0, length).replace(HALF_CHARACTER, '') : ''

/** The first half of a character of two, whose second half was cut off. */
const HALF_CHARACTER = /[\ud800-\udbff]$/

/** Without what PostgreSQL does not keep, or a page would show as something else. */
const plain = (text: string): string => text.toWellFormed().replace(/\p{Cc}/gu, '')
