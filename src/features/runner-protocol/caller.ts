import { createContextKey, type HandlerContext } from '@connectrpc/connect'
import type { ActionsRunnerRow } from '../../../db/schema/actions.ts'
import type { Context } from '../../context.ts'
import { type Exchange, exchangeOf } from '../../http/exchange.ts'
import { countRunner, countWrongCredential } from '../../http/rate-limit.ts'
import { unauthorized } from '../../kernel/errors.ts'
import { constantTimeEqual, sha256Hex } from '../../kernel/hashing.ts'
import { findRunnerByUuid } from '../actions-runners/store.ts'

/** The HTTP request that a message came in. */
export const requestKey = createContextKey<Request | undefined>(undefined)

export function exchangeOfCall({ values }: HandlerContext): Exchange {
  const request = values.get(requestKey)
  if (!request) throw new Error('the message came without its request')
  return exchangeOf(request)
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/**
 * The runner that says so in its headers.
 * @throws Refusal 401 for an unknown one and for a wrong token, 429 beyond the limit of requests
 */
export async function requireRunner(context: Context, call: HandlerContext): Promise<ActionsRunnerRow> {
  const uuid = call.requestHeader.get('x-runner-uuid') ?? ''
  const token = call.requestHeader.get('x-runner-token') ?? ''
  const runner = UUID.test(uuid) ? await findRunnerByUuid(context.db, uuid) : undefined
  if (!runner || !constantTimeEqual(runner.tokenHash, sha256Hex(token))) {
    await countWrongCredential(context, exchangeOfCall(call))
    throw unauthorized('unregistered runner')
  }
  await countRunner(context, exchangeOfCall(call), runner.id)
  return runner
}
