import { compactVerify, createLocalJWKSet, errors, type JWK } from 'jose'
import type { Context } from '../context.ts'
import { issuerOf } from './issuer.ts'
import { publishedKeys } from './keys.ts'

/** An id token of ours, expired or not. Whatever else somebody sends proves nothing. */
export async function readIdTokenHint(
  context: Context,
  token: string | undefined,
): Promise<{ subject: number; clientId: string } | undefined> {
  if (token === undefined) return undefined
  const keys: JWK[] = await publishedKeys(context)
  const verified = await compactVerify(token, createLocalJWKSet({ keys })).catch((error: unknown) => {
    if (error instanceof errors.JOSEError) return undefined
    throw error
  })
  if (!verified) return undefined
  const claims: { iss?: unknown; sub?: unknown; aud?: unknown } = JSON.parse(new TextDecoder().decode(verified.payload))
  const [clientId] = Array.isArray(claims.aud) ? claims.aud : []
  if (claims.iss !== issuerOf(context) || typeof clientId !== 'string') return undefined
  return { subject: Number(claims.sub), clientId }
}
