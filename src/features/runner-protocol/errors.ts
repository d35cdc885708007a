import { Code, ConnectError, type Interceptor } from '@connectrpc/connect'
import type { Context } from '../../context.ts'
import { refusalOfFailure, withoutParameters } from '../../http/database-errors.ts'

const codes = new Map<number, Code>([
  [400, Code.InvalidArgument],
  [401, Code.Unauthenticated],
  [403, Code.PermissionDenied],
  [404, Code.NotFound],
  [409, Code.Aborted],
  [413, Code.InvalidArgument],
  [422, Code.InvalidArgument],
  [429, Code.ResourceExhausted],
  [503, Code.Unavailable],
])

/** What goes wrong, in the form of the protocol. A bug is logged, and the answer says nothing of it. */
export const protocolErrors =
  ({ log }: Context): Interceptor =>
  (next) =>
  async (request) => {
    try {
      return await next(request)
    } catch (error) {
      if (error instanceof ConnectError) throw error
      const refusal = refusalOfFailure(error)
      if (!refusal) log.error({ error: withoutParameters(error), method: request.method.name }, 'runner protocol')
      throw new ConnectError(refusal?.message ?? 'internal error', codes.get(refusal?.status ?? 500) ?? Code.Internal)
    }
  }
