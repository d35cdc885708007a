import { randomBytes } from 'node:crypto'
import { and, desc, eq, gt, isNull, lt } from 'drizzle-orm'
import { beyondNewest } from '../../db/beyond-newest.ts'
import { oauthApplications, oauthRequests } from '../../db/schema/oauth.ts'
import { sessions } from '../../db/schema/sessions.ts'
import { base32 } from '../auth/oauth-secrets.ts'
import type { Context } from '../context.ts'
import { isRegisteredRedirect } from '../features/oauth-applications/redirect-uris.ts'
import { conflict } from '../kernel/errors.ts'
import type { AuthorizationRequest } from './authorization-request.ts'
import { errorOf, type Person, sentBack } from './authorize.ts'
import { OAuthError } from './errors.ts'
import { boundRequestOf, issueCode } from './issue-code.ts'

/** As long as somebody may look at the page before they answer. */
const ANSWER_MS = 3_600_000

/** Of one session. The oldest is forgotten when there would be more. */
const MAX_REQUESTS = 20

/**
 * Keeps a request until it is answered.
 * @returns its handle, for the form
 * @throws Refusal 409 when the session has ended meanwhile
 */
export async function keepRequest(context: Context, request: AuthorizationRequest, person: Person): Promise<string> {
  const { db, clock } = context
  const handle = base32(randomBytes(32))
  const sessionId = person.session.id
  await db.transaction(async (tx) => {
    // Of parallel requests, each sees what the one before has stored.
    const own = tx.select({ id: sessions.id }).from(sessions).where(eq(sessions.id, sessionId))
    const [session] = await own.for('no key update')
    if (!session) throw conflict('you were signed out meanwhile: sign in again')
    await tx.insert(oauthRequests).values({
      handle,
      sessionId,
      applicationId: request.application.id,
      state: request.state,
      ...boundRequestOf(request),
      createdAt: clock.now(),
    })
    const ofSession = eq(oauthRequests.sessionId, sessionId)
    const excess = beyondNewest(tx, oauthRequests.createdAt, { of: ofSession, keep: MAX_REQUESTS })
    await tx.delete(oauthRequests).where(excess)
  })
  return handle
}

/** The form of the consent page, as it was sent. */
export interface ConsentForm {
  /** The handle. Wire: programs that send only the fields of Gitea mean the latest request that has them. */
  request?: string | undefined
  client_id?: string | undefined
  redirect_uri?: string | undefined
  state?: string | undefined
  scope?: string | undefined
  nonce?: string | undefined
  granted?: string | undefined
}

/**
 * Answers a request as the person wants, once: with a code, or with `access_denied`. What is answered is the request that was stored; a form that
 * says something else is refused.
 * @returns where the person is sent; undefined for a form that belongs to no request of this session
 */
export function answerRequest(context: Context, form: ConsentForm, person: Person): Promise<string | undefined> {
  return context.db.transaction(async (tx) => {
    const pending = await tx
      .select({ request: oauthRequests, application: oauthApplications })
      .from(oauthRequests)
      .innerJoin(oauthApplications, eq(oauthApplications.id, oauthRequests.applicationId))
      .where(wanted(context, form, person))
      .orderBy(desc(oauthRequests.createdAt))
      .limit(1)
      .then(([row]) => row)
    if (!pending || !agrees(form, pending)) return undefined
    const { request, application } = pending
    if (!isRegisteredRedirect(application, request.redirectUri)) return undefined
    const taken = await tx
      .delete(oauthRequests)
      .where(eq(oauthRequests.handle, request.handle))
      .returning({ handle: oauthRequests.handle })
    if (taken.length === 0) return undefined
    if (form.granted === 'false')
      return sentBack(context, request, errorOf(new OAuthError('access_denied', 'the request is denied'))).location
    const consented = { ...request, application, person, authTime: person.session.authenticatedAt }
    const code = await issueCode(context, tx, consented)
    return sentBack(context, request, { code }).location
  })
}

function wanted({ clock }: Context, { request, client_id, redirect_uri, state }: ConsentForm, { session }: Person) {
  const alive = gt(oauthRequests.createdAt, new Date(clock.now().getTime() - ANSWER_MS))
  const ofSession = and(eq(oauthRequests.sessionId, session.id), alive)
  if (request !== undefined) return and(ofSession, eq(oauthRequests.handle, request))
  return and(
    ofSession,
    eq(oauthApplications.clientId, client_id ?? ''),
    eq(oauthRequests.redirectUri, redirect_uri ?? ''),
    state ? eq(oauthRequests.state, state) : isNull(oauthRequests.state),
  )
}

type Kept = { request: typeof oauthRequests.$inferSelect; application: typeof oauthApplications.$inferSelect }

/** Each field that was sent says what was stored. */
function agrees(form: ConsentForm, { request, application }: Kept): boolean {
  const isSame = (sent: string | undefined, stored: string | null) => sent === undefined || sent === (stored ?? '')
  return (
    (form.granted === 'true' || form.granted === 'false') &&
    isSame(form.client_id, application.clientId) &&
    isSame(form.redirect_uri, request.redirectUri) &&
    isSame(form.state, request.state) &&
    isSame(form.scope, request.requestedScope) &&
    isSame(form.nonce, request.nonce)
  )
}

/** Forgets requests that nobody has answered. */
export async function removeOldRequests({ db, clock }: Context): Promise<number> {
  const before = new Date(clock.now().getTime() - ANSWER_MS)
  const gone = await db.delete(oauthRequests).where(lt(oauthRequests.createdAt, before))
  return gone.count
}
