import { Refusal } from '../kernel/errors.ts'

/** The codes of RFC 6749 (4.1.2.1, 5.2), RFC 7009, RFC 8628 and OpenID Connect Core (3.1.2.6). */
export type OAuthErrorCode =
  | 'access_denied'
  | 'authorization_pending'
  | 'consent_required'
  | 'expired_token'
  | 'invalid_client'
  | 'invalid_grant'
  | 'invalid_request'
  | 'invalid_scope'
  | 'login_required'
  | 'request_not_supported'
  | 'request_uri_not_supported'
  | 'slow_down'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'
  | 'unsupported_token_type'

/** An error that a client gets as JSON, or by the address that a person is sent back to. */
export class OAuthError extends Error {
  readonly code: OAuthErrorCode
  readonly status: number
  readonly headers: Readonly<Record<string, string>>

  constructor(
    code: OAuthErrorCode,
    description: string,
    { status = 400, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
  ) {
    super(description)
    this.name = 'OAuthError'
    this.code = code
    this.status = status
    this.headers = headers
  }
}

export const invalidRequest = (description: string) => new OAuthError('invalid_request', description)
export const invalidGrant = (description: string) => new OAuthError('invalid_grant', description)

/** Answers of machine endpoints are never cached (RFC 6749, 5.1). */
export const NOT_STORED = { 'cache-control': 'no-store', pragma: 'no-cache' } as const

/** Runs a machine endpoint. Its errors are answered in the form of RFC 6749, 5.2. */
export async function answerClient(handle: () => Promise<Response>): Promise<Response> {
  try {
    return await handle()
  } catch (error) {
    if (error instanceof OAuthError) return errorAnswer(error)
    // The limit of requests, a database that is away: in their usual form, but with the header.
    if (error instanceof Refusal)
      throw new Refusal(error.status, error.message, {
        ...error.details,
        headers: { ...error.details.headers, ...NOT_STORED },
      })
    throw error
  }
}

const errorAnswer = ({ code, message, status, headers }: OAuthError): Response =>
  Response.json({ error: code, error_description: message }, { status, headers: { ...NOT_STORED, ...headers } })
