import type { OAuthApplicationRow } from '../../db/schema/oauth.ts'
import type { Config } from '../config.ts'
import { OAuthError } from './errors.ts'
import { PKCE_TEXT } from './pkce.ts'
import { grantedScopes } from './scopes.ts'

/** A request to the authorization endpoint that is right in every respect (RFC 6749, 4.1.1; OpenID Connect Core, 3.1.2.1). */
export interface AuthorizationRequest {
  application: OAuthApplicationRow
  redirectUri: string
  state: string | null
  scopes: string[]
  /** `scope` as it was sent. */
  requestedScope: string
  nonce: string | null
  codeChallenge: string | null
  codeChallengeMethod: 'S256' | 'plain' | null
  prompt: ReadonlySet<Prompt>
  /** Seconds that the sign-in may be old. */
  maxAge: number | undefined
  loginHint: string | undefined
  /** An id token of the person who is meant. */
  idTokenHint: string | undefined
}

const PROMPTS = ['none', 'login', 'consent', 'select_account'] as const
type Prompt = (typeof PROMPTS)[number]

/** Longest values that are stored until somebody has answered. */
const MAX_LENGTHS: Readonly<Record<string, number>> = { state: 16_384, nonce: 4096, scope: 4096 }

/**
 * Everything but who asks and where the answer goes, which are known already.
 * @throws OAuthError for the client
 */
export function readAuthorizationRequest(
  config: Config,
  { application, redirectUri }: Pick<AuthorizationRequest, 'application' | 'redirectUri'>,
  sent: URLSearchParams,
): AuthorizationRequest {
  requirePlain(sent)
  const given = (name: string) => sent.get(name) || undefined
  requireKnownKind(given)
  const requestedScope = given('scope') ?? ''
  return {
    application,
    redirectUri,
    state: given('state') ?? null,
    scopes: grantedScopes(requestedScope, config),
    requestedScope,
    nonce: given('nonce') ?? null,
    ...readChallenge(config, application, given),
    prompt: readPrompt(given('prompt')),
    maxAge: readMaxAge(given('max_age')),
    loginHint: given('login_hint'),
    idTokenHint: given('id_token_hint'),
  }
}

type Given = (name: string) => string | undefined

const refuse = (description: string) => new OAuthError('invalid_request', description)

/** RFC 6749, 3.1: no parameter comes twice. */
function requirePlain(sent: URLSearchParams): void {
  for (const name of new Set(sent.keys())) {
    const values = sent.getAll(name)
    const [value = ''] = values
    if (values.length > 1) throw refuse(`the parameter ${JSON.stringify(name.slice(0, 100))} is repeated`)
    if (value.includes('\0') || value.length > (MAX_LENGTHS[name] ?? Number.POSITIVE_INFINITY))
      throw refuse(`the parameter ${JSON.stringify(name.slice(0, 100))} is too long or has a NUL character`)
  }
}

/** What would change the meaning of the rest. */
function requireKnownKind(given: Given): void {
  if (given('request') !== undefined) throw new OAuthError('request_not_supported', 'request objects are not supported')
  if (given('request_uri') !== undefined)
    throw new OAuthError('request_uri_not_supported', 'request objects are not supported')
  const type = given('response_type')
  if (type !== 'code') {
    const code = type === undefined ? 'invalid_request' : 'unsupported_response_type'
    throw new OAuthError(code, 'Only code response type is supported.')
  }
  if ((given('response_mode') ?? 'query') !== 'query') throw refuse('Only query response mode is supported.')
}

/** RFC 7636, 4.3 and 4.4.1. */
function readChallenge(
  { oauth2RequirePkce }: Config,
  { isConfidential }: OAuthApplicationRow,
  given: Given,
): Pick<AuthorizationRequest, 'codeChallenge' | 'codeChallengeMethod'> {
  const challenge = given('code_challenge')
  const method = given('code_challenge_method')
  if (method !== undefined && method !== 'S256' && method !== 'plain') throw refuse('unsupported code challenge method')
  if (challenge === undefined) {
    if (!isConfidential) throw refuse('PKCE is required for public clients')
    if (oauth2RequirePkce) throw refuse('PKCE is required')
    if (method !== undefined) throw refuse('code challenge is missing')
    return { codeChallenge: null, codeChallengeMethod: null }
  }
  if (!PKCE_TEXT.test(challenge)) throw refuse('code challenge has a wrong length or character')
  return { codeChallenge: challenge, codeChallengeMethod: method ?? 'plain' }
}

function readPrompt(text: string | undefined): Set<Prompt> {
  const words = (text ?? '').split(' ').filter((word) => word !== '')
  const prompts = new Set(PROMPTS.filter((known) => words.includes(known)))
  if (words.some((word) => !PROMPTS.some((known) => known === word))) throw refuse('unknown prompt')
  if (prompts.has('none') && prompts.size > 1) throw refuse('prompt none stands alone')
  return prompts
}

function readMaxAge(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^\d{1,9}$/.test(text)) throw refuse('max_age is no number of seconds')
  return Number(text)
}
