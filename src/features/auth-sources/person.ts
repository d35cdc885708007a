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

/** OpenID Connect Core, 2. */
const MAX_SUBJECT = 255
const MAX_TEXT = 255
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

/** What the id token says, and what userinfo adds: some sources tell of groups and addresses only there. */
async function claimsFrom(
  configuration: openid.Configuration,
  tokens: openid.TokenEndpointResponse & openid.TokenEndpointResponseHelpers,
): Promise<Claims> {
  const claims = tokens.claims()
  if (claims === undefined) throw new Error('there is no id token')
  if (configuration.serverMetadata().userinfo_endpoint === undefined) return claims
  return { ...(await openid.fetchUserInfo(configuration, tokens.access_token, claims.sub)), ...claims }
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
  if (subject === '' || subject.length > MAX_SUBJECT || subject !== plain(subject))
    throw badRequest(`${source.label} gives you no name that can be taken`)
  const text = (name: string) => textsIn(claims, name)[0] ?? ''
  const email = isEmailAddress(text('email')) ? text('email') : ''
  const preferred = text('preferred_username')
  return {
    subject,
    label: preferred || email || text('name') || subject,
    profile: {
      // Some sources call people by their address.
      name: (preferred || email).replace(/@.*$/, ''),
      fullName: text('name').slice(0, 100),
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

/** A claim as texts, whether it is one or a list. */
function textsIn(claims: Claims, name: string): string[] {
  const value = Object.hasOwn(claims, name) ? claims[name] : undefined
  return [value]
    .flat()
    .flatMap((one) =>
      typeof one === 'string' || typeof one === 'boolean' || typeof one === 'number' ? [String(one)] : [],
    )
    .map((one) => plain(one).slice(0, MAX_TEXT))
    .filter((one) => one !== '')
}

/** Without what PostgreSQL does not keep, or a page would show as something else. */
const plain = (text: string): string => text.toWellFormed().replace(/\p{Cc}/gu, '')
