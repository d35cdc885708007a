import type { Actor } from '../auth/actor.ts'
import { admitAccount, proveCredential } from '../auth/authenticate.ts'
import type { RequestOrigin } from '../auth/origin.ts'
import type { Context } from '../context.ts'
import { Refusal } from '../kernel/errors.ts'
import { clientAddress } from './client-address.ts'
import { type Exchange, exchangeOf, pathOf } from './exchange.ts'
import { countCaller, countVisitor, countWrongCredential } from './rate-limit.ts'

/**
 * Who is asking. The request is counted against the limit as soon as that is known, by what was proven.
 * @returns undefined when no credential was presented
 * @throws Refusal as `proveCredential` and `admitAccount`, 429 for a caller over the limit
 */
export async function identify(
  context: Context,
  request: Request,
  { formToken, ...rule }: { mayChangePassword?: boolean | undefined; formToken?: string | undefined } = {},
): Promise<Actor | undefined> {
  const exchange = exchangeOf(request)
  const actor = await prove(context, exchange, formToken)
  if (actor?.tokenExpiresAt) exchange.tokenExpiresAt = actor.tokenExpiresAt
  await (actor ? countCaller(context, exchange, actor) : countVisitor(context, exchange))
  return admitAccount(context, request, { actor, ...rule })
}

async function prove(context: Context, exchange: Exchange, formToken: string | undefined): Promise<Actor | undefined> {
  try {
    const origin = originOf(context, exchange)
    const { bearer, bodyToken, isPage } = exchange
    return await proveCredential(context, exchange, { origin, bearer, bodyToken, formToken, isPage })
  } catch (error) {
    // A fault of the service is not the caller's.
    if (error instanceof Refusal && error.status < 500) await countWrongCredential(context, exchange)
    throw error
  }
}

/** What most requests never need of their origin is worked out when it is asked for. */
export const originOf = ({ config }: Context, exchange: Exchange): RequestOrigin => ({
  get address() {
    return clientAddress(config, exchange)
  },
  get route() {
    return `${exchange.method} ${pathOf(exchange.url)}`
  },
  requestId: exchange.id,
  get userAgent() {
    return exchange.headers.get('user-agent') ?? undefined
  },
})
