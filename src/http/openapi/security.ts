import type { Json, JsonObject } from './json.ts'

/** The ways to say who is calling. The names are those of the Gitea API, so that generated clients keep theirs. */
export const securitySchemes: JsonObject = {
  BasicAuth: {
    type: 'http',
    scheme: 'basic',
    description: 'Name or e-mail with the password, or with a token in its place.',
  },
  AuthorizationHeaderToken: {
    ...{ type: 'apiKey', in: 'header', name: 'Authorization' },
    description: 'An access token, with the word `token` or `bearer` before it: `token 3f2a...`.',
  },
  Token: {
    type: 'apiKey',
    in: 'query',
    name: 'token',
    description: 'An access token in the address. Addresses get logged: prefer the header.',
  },
  AccessToken: { type: 'apiKey', in: 'query', name: 'access_token', description: 'The same as `token`.' },
  Session: {
    ...{ type: 'apiKey', in: 'cookie', name: '__Host-hearth_session' },
    description:
      'The cookie of a browser that is signed in; its name is `hearth_session` over plain http. A change has to come from a page of the service (`Sec-Fetch-Site`, `Origin`), or to bring the `_csrf` of its forms as `X-Csrf-Token`.',
  },
  SudoHeader: { type: 'apiKey', in: 'header', name: 'Sudo', description: 'Name of the user an administrator acts as.' },
  SudoParam: { type: 'apiKey', in: 'query', name: 'sudo', description: 'The same as the header `Sudo`.' },
  TOTPHeader: {
    ...{ type: 'apiKey', in: 'header', name: 'X-Service-OTP' },
    description: 'The six digits of the second factor, beside a password.',
  },
}

const byPassword: JsonObject[] = [{ BasicAuth: [] }, { BasicAuth: [], TOTPHeader: [] }]

const byAnything: JsonObject[] = [
  ...byPassword,
  { AuthorizationHeaderToken: [] },
  { Token: [] },
  { AccessToken: [] },
  { Session: [] },
  { AuthorizationHeaderToken: [], SudoHeader: [] },
  { AuthorizationHeaderToken: [], SudoParam: [] },
]

/** What an operation says where it does not say otherwise. */
export const defaultSecurity: Json = byAnything

/** The alternatives of OpenAPI's `security`; the empty one is a caller who says nothing, undefined is the default. */
export const securityOf: Readonly<Record<'anyone' | 'signedIn' | 'password', Json | undefined>> = {
  anyone: [{}, ...byAnything],
  signedIn: undefined,
  password: byPassword,
}
