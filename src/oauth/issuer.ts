import type { Context } from '../context.ts'

/** RFC 8414, 2: what this server calls itself, in metadata, id tokens and answers alike. */
export const issuerOf = ({ config, baseUrl }: Pick<Context, 'config' | 'baseUrl'>): string =>
  config.oauth2JwtClaimIssuer ?? baseUrl
