import type * as openid from 'openid-client'
import type { AuthSourceRow } from '../../../db/schema/auth-sources.ts'
import type { Context } from '../../context.ts'
import { badRequest, invalid, Refusal, unavailable } from '../../kernel/errors.ts'
import { errorCode, messageOf } from '../../kernel/thrown.ts'
import type { Provider } from '../../outbound/openid.ts'
import { OutboundError } from '../../outbound/outbound-error.ts'

const SECRET_PURPOSE = 'auth source secret'

export const sealSecret = ({ secrets }: Pick<Context, 'secrets'>, secret: string): Uint8Array =>
  secrets.seal(SECRET_PURPOSE, secret)

/** @throws Refusal 503 when the secret was sealed with another key */
const providerOf = ({ secrets }: Context, source: AuthSourceRow): Provider => ({
  id: source.id,
  version: source.updatedAt,
  issuer: source.issuer,
  clientId: source.clientId,
  secret: source.clientSecret === null ? undefined : secrets.open(SECRET_PURPOSE, source.clientSecret),
})

/**
 * Does something with a provider.
 * @throws Refusal 503 where it does not answer, 400 where its answer is not to be believed: the log says why, and the person only that
 */
export async function askProvider<Result>(
  context: Context,
  source: AuthSourceRow,
  ask: (configuration: openid.Configuration) => Promise<Result>,
): Promise<Result> {
  try {
    return await ask(await context.providers.configurationOf(providerOf(context, source)))
  } catch (error) {
    if (error instanceof Refusal) throw error
    const outbound = outboundErrorIn(error)
    const reason = messageOf(outbound ?? error)
    context.log.warn({ source: source.name, code: errorCode(error), reason }, 'a sign-in by a provider has failed')
    if (outbound) throw unavailable(`${source.label} cannot be reached now`, 30)
    throw badRequest(`what ${source.label} answered was not taken: begin again`)
  }
}

/** For who sets a source up. @throws Refusal 422 that says why it is no provider */
export async function tryProvider(context: Context, source: AuthSourceRow): Promise<void> {
  try {
    await context.providers.configurationOf(providerOf(context, source))
  } catch (error) {
    if (error instanceof Refusal) throw error
    const reason = messageOf(outboundErrorIn(error) ?? error)
    throw invalid(`${source.issuer} does not answer as a provider: ${reason}`)
  }
}

/** The library wraps what its requests throw. */
function outboundErrorIn(error: unknown): OutboundError | undefined {
  if (error instanceof OutboundError) return error
  return error instanceof Error && error.cause !== undefined ? outboundErrorIn(error.cause) : undefined
}
