import { CLAIM_SCOPES, scopeAreas } from '../auth/scopes.ts'
import type { Context } from '../context.ts'
import { DEVICE_GRANT } from './device.ts'
import { issuerOf } from './issuer.ts'

const CLIENT_AUTHENTICATION = ['client_secret_basic', 'client_secret_post'] as const

/**
 * OpenID Connect Discovery 3, and RFC 8414, which names the same things. Wire: the keys of the Gitea API come first and in its order. Only
 * what works is announced.
 */
export function describeProvider(context: Context) {
  const { baseUrl, config } = context
  const endpoint = (name: string) => `${baseUrl}/login/oauth/${name}`
  return {
    issuer: issuerOf(context),
    authorization_endpoint: endpoint('authorize'),
    token_endpoint: endpoint('access_token'),
    jwks_uri: endpoint('keys'),
    userinfo_endpoint: endpoint('userinfo'),
    introspection_endpoint: endpoint('introspect'),
    response_types_supported: ['code'],
    id_token_signing_alg_values_supported: [config.oauth2JwtSigningAlgorithm],
    subject_types_supported: ['public'],
    scopes_supported: [
      ...CLAIM_SCOPES,
      ...scopeAreas.flatMap((area) => [`read:${area}`, `write:${area}`]),
      'public-only',
      'all',
    ],
    claims_supported: [
      ...['aud', 'exp', 'iat', 'iss', 'sub', 'name', 'preferred_username', 'profile', 'picture', 'website', 'locale'],
      ...['updated_at', 'email', 'email_verified', 'groups', 'auth_time', 'nonce', 'at_hash'],
    ],
    code_challenge_methods_supported: ['plain', 'S256'],
    grant_types_supported: [
      ...['authorization_code', 'refresh_token'],
      ...(config.oauth2DeviceFlow ? [DEVICE_GRANT] : []),
    ],
    response_modes_supported: ['query'],
    token_endpoint_auth_methods_supported: [...CLIENT_AUTHENTICATION, 'none'],
    introspection_endpoint_auth_methods_supported: [...CLIENT_AUTHENTICATION],
    revocation_endpoint: endpoint('revoke'),
    end_session_endpoint: endpoint('logout'),
    revocation_endpoint_auth_methods_supported: [...CLIENT_AUTHENTICATION, 'none'],
    authorization_response_iss_parameter_supported: true,
    ...(config.oauth2DeviceFlow ? { device_authorization_endpoint: endpoint('device_authorization') } : {}),
    claims_parameter_supported: false,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
  }
}
