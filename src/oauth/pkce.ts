import { createHash } from 'node:crypto'
import type { OAuthAuthorizationRow } from '../../db/schema/oauth.ts'
import { constantTimeEqual } from '../kernel/hashing.ts'

/** RFC 7636, 4.1 and 4.2: of verifiers and of challenges. */
export const PKCE_TEXT = /^[A-Za-z0-9._~-]{43,128}$/

/** RFC 7636, 4.6. A verifier for a code without a challenge is refused too: somebody took the challenge away (RFC 9700, 4.8.2). */
export function isProven(
  { codeChallenge, codeChallengeMethod }: Pick<OAuthAuthorizationRow, 'codeChallenge' | 'codeChallengeMethod'>,
  verifier: string | undefined,
): boolean {
  if (codeChallenge === null || verifier === undefined) return codeChallenge === null && verifier === undefined
  if (!PKCE_TEXT.test(verifier)) return false
  const derived = codeChallengeMethod === 'plain' ? verifier : createHash('sha256').update(verifier).digest('base64url')
  return constantTimeEqual(derived, codeChallenge)
}
