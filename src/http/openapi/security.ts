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
