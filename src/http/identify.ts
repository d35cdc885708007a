import type { Actor } from '../auth/actor.ts'
import { authenticate, type Circumstances } from '../auth/authenticate.ts'
import type { RequestOrigin } from '../auth/origin.ts'
import type { Context } from '../context.ts'
import { clientAddress } from './client-address.ts'
import { loggedPath, requestId } from './request.ts'

const tokenEnds = new WeakMap<Request, Date>()

/** When the token of an identified request ends, also where the request was then refused. */
export const tokenEndOf = (request: Request): Date | undefined => tokenEnds.get(request)

/** `authenticate` for a request that came over HTTP. What most requests never need of their origin is worked out when it is asked for. */
export async function identify(
  context: Context,
  request: Request,
  rule: Omit<Circumstances, 'origin'> = {},
): Promise<Actor | undefined> {
  const origin: RequestOrigin = {
    get address() {
      return clientAddress(context.config, request)
    },
    get route() {
      return `${request.method} ${loggedPath(request.url)}`
    },
    get requestId() {
      return requestId(request)
    },
  }
  const actor = await authenticate(context, request, { origin, ...rule })
  if (actor?.tokenExpiresAt) tokenEnds.set(request, actor.tokenExpiresAt)
  return actor
}
