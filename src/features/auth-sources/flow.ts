import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import * as openid from 'openid-client'
import type { AuthSourceRow } from '../../../db/schema/auth-sources.ts'
import type { Context } from '../../context.ts'
import { askProvider } from './provider.ts'

/** Time to sign in elsewhere. */
export const FLOW_SECONDS = 900
const PURPOSE = 'provider sign-in'
/** In bytes, so that the cookie stays one that browsers keep. What is longer is forgotten: the sign-in then leads home. */
const MAX_TARGET = 2000

export type Flow = typeof Flow.static
const Flow = Type.Object({
  sourceId: Type.Integer(),
  state: Type.String(),
  nonce: Type.String(),
  verifier: Type.String(),
  /** In seconds since 1970. */
  until: Type.Integer(),
  /** Whether somebody who is signed in wants to connect who they are there with their account. */
  isConnecting: Type.Boolean(),
  /** Where to go afterwards: a path of ours. */
  redirectTo: Type.Optional(Type.String()),
})

export interface Beginning {
  source: AuthSourceRow
  isConnecting: boolean
  /** Whether they have to show again who they are, though they may be signed in there. */
  isAgain: boolean
  /** A path of ours. */
  redirectTo: string | undefined
}

/**
 * A sign-in at a source: where the browser is sent, and what it keeps until it comes back. That is sealed, so that any replica
 * takes it, and nothing is stored for visitors who never come back.
 * @throws Refusal 503 where the provider does not answer, 502 as `askProvider`
 */
export async function beginFlow(
  context: Context,
  { source, isConnecting, isAgain, redirectTo }: Beginning,
): Promise<{ location: string; sealed: string }> {
  const configuration = await askProvider(context, source, (found) => Promise.resolve(found))
  const flow: Flow = {
    sourceId: source.id,
    state: openid.randomState(),
    nonce: openid.randomNonce(),
    verifier: openid.randomPKCECodeVerifier(),
    until: Math.floor(context.clock.now().getTime() / 1000) + FLOW_SECONDS,
    isConnecting,
    ...(redirectTo !== undefined && Buffer.byteLength(JSON.stringify(redirectTo)) <= MAX_TARGET ? { redirectTo } : {}),
  }
  const location = openid.buildAuthorizationUrl(configuration, {
    redirect_uri: callbackUrl(context, source),
    scope: source.scopes.join(' '),
    state: flow.state,
    nonce: flow.nonce,
    code_challenge: await openid.calculatePKCECodeChallenge(flow.verifier),
    code_challenge_method: 'S256',
    ...(isAgain ? { prompt: 'login' } : {}),
  })
  const sealed = Buffer.from(context.secrets.seal(PURPOSE, JSON.stringify(flow))).toString('base64url')
  return { location: location.href, sealed }
}

/** Where a source sends people back to. Each has an address of its own, so that none is taken for another (RFC 9700, 4.4.2). */
export const callbackUrl = ({ baseUrl }: Pick<Context, 'baseUrl'>, { name }: Pick<AuthSourceRow, 'name'>): string =>
  `${baseUrl}/user/oauth2/${name}/callback`

/** The state of a sign-in in the browser's cookie; undefined for anything that this service has not sealed, or too long ago. */
export function openFlow({ secrets, clock }: Context, sealed: string | undefined): Flow | undefined {
  const text = sealed && secrets.tryOpen(PURPOSE, Buffer.from(sealed, 'base64url'))
  if (!text) return undefined
  const flow: unknown = JSON.parse(text)
  return Value.Check(Flow, flow) && flow.until * 1000 > clock.now().getTime() ? flow : undefined
}
