import type { Context } from '../../context.ts'
import { unauthorized } from '../../kernel/errors.ts'
import { constantTimeEqual } from '../../kernel/hashing.ts'

type Purpose = 'upload' | 'download'

/** An upload ends with its job anyway. A download only has to begin in this time. */
const SECONDS: Record<Purpose, number> = { upload: 6 * 3600, download: 900 }

/** What an address says beside its artifact, so that whoever has it may do this one thing with it for a while. */
export function signedQuery(context: Context, purpose: Purpose, artifactId: number): URLSearchParams {
  const expires = String(Math.floor(context.clock.now().getTime() / 1000) + SECONDS[purpose])
  return new URLSearchParams({ expires, sig: signature(context, { purpose, artifactId, expires }) })
}

interface Signed {
  purpose: Purpose
  artifactId: number
}

/** @throws Refusal 401 for an address that this instance has not made, and when its time is over */
export function requireSignature(context: Context, signed: Signed, query: URLSearchParams): void {
  const expires = query.get('expires') ?? ''
  const expected = signature(context, { ...signed, expires })
  if (!constantTimeEqual(query.get('sig') ?? '', expected)) throw unauthorized('Error unauthorized')
  if (Number(expires) * 1000 <= context.clock.now().getTime()) throw unauthorized('Error link expired')
}

const signature = ({ secrets }: Context, { purpose, artifactId, expires }: Signed & { expires: string }): string =>
  Buffer.from(secrets.sign(`artifact ${purpose}`, `${artifactId} ${expires}`)).toString('base64url')
