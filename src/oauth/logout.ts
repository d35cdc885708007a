import type { OAuthApplicationRow } from '../../db/schema/oauth.ts'
import type { Context } from '../context.ts'
import { isRegisteredRedirect } from '../features/oauth-applications/redirect-uris.ts'
import { findByClientId } from '../features/oauth-applications/store.ts'
import { readIdTokenHint } from './id-token-hint.ts'

/** A request to sign somebody out (OpenID Connect RP-Initiated Logout 1.0, 2). */
export interface LogoutRequest {
  /** Whose id token was shown: without it the person is asked. */
  subject: number | undefined
  /** Where to go afterwards, with the state. */
  target: string | undefined
}

/**
 * @returns a text where the request is wrong. Nobody is sent anywhere then: only addresses that the application has registered to send people
 * back to are taken.
 */
export async function readLogoutRequest(context: Context, sent: URLSearchParams): Promise<LogoutRequest | string> {
  for (const name of new Set(sent.keys()))
    if (sent.getAll(name).length > 1) return `The parameter ${name.slice(0, 100)} is repeated`
  const hint = await readIdTokenHint(context, sent.get('id_token_hint') || undefined)
  const clientId = sent.get('client_id') || hint?.clientId
  if (hint && clientId !== hint.clientId) return 'The id token belongs to another client'
  const application = clientId === undefined ? undefined : await findByClientId(context.db, clientId)
  if (clientId !== undefined && !application) return 'Client ID not registered'
  const target = readTarget(application, sent)
  return target === null ? 'Unregistered Redirect URI' : { subject: hint?.subject, target }
}

/** Null for an address that is not registered. */
function readTarget(application: OAuthApplicationRow | undefined, sent: URLSearchParams): string | undefined | null {
  const uri = sent.get('post_logout_redirect_uri') || undefined
  if (uri === undefined) return undefined
  if (!application || !isRegisteredRedirect(application, uri)) return null
  const state = sent.get('state') || undefined
  if (state === undefined) return uri
  return `${uri}${uri.includes('?') ? '&' : '?'}${new URLSearchParams({ state })}`
}
