import type { OAuthApplicationRow } from '../../db/schema/oauth.ts'
import type { Context } from '../context.ts'
import { findByClientId } from '../features/oauth-applications/store.ts'
import { constantTimeEqual, sha256Hex } from '../kernel/hashing.ts'
import { invalidRequest, OAuthError } from './errors.ts'
import type { Parameters } from './parameters.ts'

interface PresentedClient {
  id: string
  secret: string
  isBasic: boolean
}

/** What a client gives its name and secret for. */
const CHALLENGE = { status: 401, headers: { 'www-authenticate': 'Basic realm="Hearth OAuth2"' } }

/**
 * The application that sends a request, by its fields or by Basic (RFC 6749, 2.3.1). A public one only says who it is; what it sends
 * as a secret does not count.
 * @throws OAuthError for an unknown one and a wrong secret: 401 where it came by Basic
 */
export async function authenticateClient(
  { db }: Context,
  request: Request,
  parameters: Parameters,
): Promise<OAuthApplicationRow> {
  const { id, secret, isBasic } = readClient(request, parameters)
  const refused = (description: string) => new OAuthError('invalid_client', description, isBasic ? CHALLENGE : {})
  const application = await findByClientId(db, id)
  if (!application) throw refused(`cannot load client with client id: '${id.slice(0, 100)}'`)
  if (!application.isConfidential) return application
  if (secret === '') throw refused('invalid empty client secret')
  if (!constantTimeEqual(application.secretHash ?? '', sha256Hex(secret))) throw refused('invalid client secret')
  return application
}

/** A client with a secret, for endpoints that answer questions about tokens. @throws OAuthError 401 for any other */
export async function authenticateConfidentialClient(
  context: Context,
  request: Request,
  parameters: Parameters,
): Promise<OAuthApplicationRow> {
  const noAuthorization = new OAuthError('invalid_client', 'no valid authorization', CHALLENGE)
  const client = await authenticateClient(context, request, parameters).catch((error: unknown) => {
    throw error instanceof OAuthError && error.code === 'invalid_client' ? noAuthorization : error
  })
  if (!client.isConfidential) throw noAuthorization
  return client
}

function readClient({ headers }: Request, parameters: Parameters): PresentedClient {
  const id = parameters.get('client_id')
  const secret = parameters.get('client_secret')
  const authorization = headers.get('authorization') ?? ''
  if (!/^basic\s/i.test(authorization)) return { id: id ?? '', secret: secret ?? '', isBasic: false }
  const basic = readBasic(authorization)
  if (basic === undefined) throw new OAuthError('invalid_client', 'cannot parse basic auth header', CHALLENGE)
  if (id !== undefined && id !== basic.id) throw differs('client_id')
  if (secret !== undefined && secret !== basic.secret) throw differs('client_secret')
  return { ...basic, isBasic: true }
}

const differs = (name: string) => invalidRequest(`${name} in request body inconsistent with Authorization header`)

/** RFC 6749, 2.3.1: both parts are encoded as in a form before they are joined. */
function readBasic(authorization: string): { id: string; secret: string } | undefined {
  const [, encoded] = /^basic\s+([A-Za-z0-9+/]+=*)\s*$/i.exec(authorization) ?? []
  const text = encoded === undefined ? '' : Buffer.from(encoded, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  if (colon < 0) return undefined
  const id = formDecoded(text.slice(0, colon))
  const secret = formDecoded(text.slice(colon + 1))
  return id === undefined || secret === undefined ? undefined : { id, secret }
}

function formDecoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}
