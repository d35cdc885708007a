import type { SessionRow, SignInMethod } from '../../db/schema/sessions.ts'
import type { UserRow } from '../../db/schema/users.ts'
import { requireUsableAccount } from '../auth/authenticate.ts'
import { clearCookie, sessionCookie } from '../auth/session-cookie.ts'
import { createSession } from '../auth/sessions.ts'
import type { Context } from '../context.ts'
import { originOf } from '../http/admission.ts'
import { exchangeOf } from '../http/exchange.ts'
import { conflict } from '../kernel/errors.ts'
import { seeOther } from './layout.ts'
import { localTarget } from './paths.ts'

export interface ProvenPerson {
  user: UserRow
  method: SignInMethod
  isRemembered: boolean
  /** When they showed who they are, where that was elsewhere and earlier. */
  authenticatedAt?: Date
  /** The connection with a source that was the first factor, where it was one. */
  identityId?: number | undefined
  /** What the form had as `redirect_to`, unread. */
  redirectTo: string | undefined
}

/**
 * The last step of every sign-in in a browser, once it is known who it is: a new session in place of the one that the browser had.
 * @throws Refusal 403 for an account that may not sign in
 */
export async function beginSession(
  context: Context,
  request: Request,
  { redirectTo, ...proven }: ProvenPerson,
): Promise<Response> {
  requireUsableAccount(context, proven.user, true)
  const origin = originOf(context, exchangeOf(request))
  const begun = await createSession(context, { ...proven, origin, replaces: presentSession(request) })
  if (!begun) throw conflict('the account was changed meanwhile: sign in again')
  const cookies = [sessionCookie(context, begun), clearCookie(context, 'sign_in')]
  return seeOther(context, localTarget(context, redirectTo) ?? '/', cookies)
}

const presentSession = (request: Request): SessionRow | undefined => exchangeOf(request).admitted?.actor?.session
