import { and, eq } from 'drizzle-orm'
import { oauthGrants } from '../../db/schema/oauth.ts'
import type { SessionRow } from '../../db/schema/sessions.ts'
import type { UserRow } from '../../db/schema/users.ts'
import type { Actor } from '../auth/actor.ts'
import type { Context } from '../context.ts'
import { isRegisteredRedirect } from '../features/oauth-applications/redirect-uris.ts'
import { findByClientId } from '../features/oauth-applications/store.ts'
import { type AuthorizationRequest, readAuthorizationRequest } from './authorization-request.ts'
import { OAuthError } from './errors.ts'
import { readIdTokenHint } from './id-token-hint.ts'
import { issueCode } from './issue-code.ts'
import { issuerOf } from './issuer.ts'
import { areCovered } from './scopes.ts'

/** Whoever looks at the page, if they are signed in with a browser. */
export type Person = Actor & { session: SessionRow }

/** What comes next after a request of an application. */
export type NextStep =
  /** The person sees it: there is nowhere to send them (RFC 6749, 4.1.2.1). */
  | { kind: 'refused'; message: string }
  /** Back to the application, with a code or an error. */
  | { kind: 'sent back'; location: string }
  /** @param again the same request, as a query, for after the sign-in */
  | { kind: 'sign in'; again: string; isAgain: boolean; loginHint: string | undefined }
  | { kind: 'password'; user: UserRow }
  | { kind: 'consent'; request: AuthorizationRequest; person: Person }

/** Our own mark in a request that comes back from the sign-in: it has to be newer than this (Unix seconds). */
const SIGNED_IN_AFTER = 'signed_in_after'

/** Judges a request to the authorization endpoint: who asks, where to, everything else, then who answers. */
export async function authorize(
  context: Context,
  sent: URLSearchParams,
  person: Person | undefined,
): Promise<NextStep> {
  const once = (name: string) => (sent.getAll(name).length === 1 ? (sent.get(name) ?? '') : '')
  const application = await findByClientId(context.db, once('client_id'))
  if (!application) return { kind: 'refused', message: 'Client ID not registered' }
  const redirectUri = once('redirect_uri')
  if (!isRegisteredRedirect(application, redirectUri)) return { kind: 'refused', message: 'Unregistered Redirect URI' }
  const [state] = sent.getAll('state')
  try {
    const request = readAuthorizationRequest(context.config, { application, redirectUri }, sent)
    return await answerAs(context, request, { sent, person })
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error
    return sentBack(context, { redirectUri, state: state || null }, errorOf(error))
  }
}

/** @throws OAuthError where nobody may be asked */
async function answerAs(
  context: Context,
  request: AuthorizationRequest,
  { sent, person }: { sent: URLSearchParams; person: Person | undefined },
): Promise<NextStep> {
  const { prompt } = request
  if (
    !person ||
    mustSignInAgain(context, request, { sent, person }) ||
    (await isAboutAnother(context, request, person))
  ) {
    if (prompt.has('none')) throw new OAuthError('login_required', 'nobody is signed in')
    return signInFirst(context, request, { sent, isAgain: person !== undefined })
  }
  if (person.user.mustChangePassword) {
    if (prompt.has('none')) throw new OAuthError('login_required', 'the password must be changed')
    return { kind: 'password', user: person.user }
  }
  if (!(await mustAsk(context, request, person))) return withCode(context, request, person)
  if (prompt.has('none')) throw new OAuthError('consent_required', 'the person has to be asked')
  return { kind: 'consent', request, person }
}

function mustSignInAgain(
  { clock }: Context,
  { prompt, maxAge }: AuthorizationRequest,
  { sent, person }: { sent: URLSearchParams; person: Person },
): boolean {
  const signedInAt = Math.floor(person.session.authenticatedAt.getTime() / 1000)
  const after = Number(sent.get(SIGNED_IN_AFTER) ?? 0)
  if (prompt.has('login') || signedInAt < after) return true
  return maxAge !== undefined && clock.now().getTime() / 1000 - signedInAt > maxAge
}

/** OpenID Connect Core, 3.1.2.1: with `id_token_hint` the application means one person. */
async function isAboutAnother(
  context: Context,
  { idTokenHint }: AuthorizationRequest,
  { user }: Person,
): Promise<boolean> {
  const hint = await readIdTokenHint(context, idTokenHint)
  return hint !== undefined && hint.subject !== user.id
}

/** The same request once more, with the mark in place of what asked for the sign-in: it is met then. */
function signInFirst(
  { clock }: Context,
  { prompt, maxAge, loginHint }: AuthorizationRequest,
  { sent, isAgain }: { sent: URLSearchParams; isAgain: boolean },
): NextStep {
  const again = new URLSearchParams(sent)
  if (prompt.has('login') || maxAge !== undefined) {
    const left = [...prompt].filter((word) => word !== 'login')
    again.delete('max_age')
    if (left.length > 0) again.set('prompt', left.join(' '))
    else again.delete('prompt')
    again.set(SIGNED_IN_AFTER, String(Math.floor(clock.now().getTime() / 1000)))
  }
  return { kind: 'sign in', again: String(again), isAgain, loginHint }
}

/**
 * Whether the person is asked: the first time, when the application wants more than before, and always for one that cannot prove who it
 * is (RFC 6749, 10.2), unless an administrator trusts it.
 */
async function mustAsk(
  { db }: Context,
  { application, scopes, prompt }: AuthorizationRequest,
  { user }: Person,
): Promise<boolean> {
  if (prompt.has('consent') || prompt.has('select_account')) return true
  if (!application.isConfidential && !application.skipsConsent) return true
  const [grant] = await db
    .select({ scopes: oauthGrants.scopes })
    .from(oauthGrants)
    .where(and(eq(oauthGrants.userId, user.id), eq(oauthGrants.applicationId, application.id)))
  return !grant || !areCovered(scopes, grant.scopes)
}

async function withCode(context: Context, request: AuthorizationRequest, person: Person): Promise<NextStep> {
  const consented = { ...request, person, authTime: person.session.authenticatedAt }
  const code = await context.db.transaction((tx) => issueCode(context, tx, consented))
  return sentBack(context, request, { code })
}

export const errorOf = ({ code, message }: OAuthError) => ({ error: code, error_description: message })

/** RFC 6749, 4.1.2, and RFC 9207: the state only where one was sent, and who answers. */
export function sentBack(
  context: Context,
  { redirectUri, state }: { redirectUri: string; state: string | null },
  answer: Readonly<Record<string, string>>,
): NextStep & { kind: 'sent back' } {
  const query = new URLSearchParams(answer)
  if (state !== null) query.set('state', state)
  query.set('iss', issuerOf(context))
  return { kind: 'sent back', location: `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${query}` }
}
