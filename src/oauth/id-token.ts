import { createHash } from 'node:crypto'
import { importJWK, SignJWT } from 'jose'
import type { UserRow } from '../../db/schema/users.ts'
import type { Context } from '../context.ts'
import { claimsOf } from './claims.ts'
import { issuerOf } from './issuer.ts'
import { type SigningAlgorithm, signingKey } from './keys.ts'

/** What an id token is about. */
export interface SignIn {
  clientId: string
  user: UserRow
  scopes: readonly string[]
  nonce: string | null
  authTime: Date
  accessToken: string
}

/** OpenID Connect Core, 2 and 3.1.3.6. It lasts as long as the access token beside it. */
export async function signIdToken(context: Context, signIn: SignIn): Promise<string> {
  const { clientId, user, scopes, nonce, authTime, accessToken } = signIn
  const { kid, algorithm, privateKey } = await signingKey(context)
  const now = seconds(context.clock.now())
  const { sub, ...claims } = await claimsOf(context, user, scopes)
  return new SignJWT({
    iss: issuerOf(context),
    sub,
    aud: [clientId],
    exp: now + context.config.oauth2AccessTokenExpirationTime,
    iat: now,
    auth_time: seconds(authTime),
    ...(nonce === null ? {} : { nonce }),
    at_hash: leftHalf(accessToken, algorithm),
    ...claims,
  })
    .setProtectedHeader({ alg: algorithm, kid, typ: 'JWT' })
    .sign(await importJWK(privateKey, algorithm))
}

const seconds = (at: Date): number => Math.floor(at.getTime() / 1000)

/** The left half of a hash that belongs to the algorithm of the signature; Ed25519 goes with SHA-512. */
function leftHalf(text: string, algorithm: SigningAlgorithm): string {
  const digest = createHash(algorithm === 'EdDSA' ? 'sha512' : 'sha256')
    .update(text)
    .digest()
  return digest.subarray(0, digest.length / 2).toString('base64url')
}
