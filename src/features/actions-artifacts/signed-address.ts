import type { Context } from '../../context.ts'
import { unauthorized } from '../../kernel/errors.ts'
import { constantTimeEqual } from '../../kernel/hashing.ts'

type Purpose = 'upload' | 'download'

/** An upload ends with its job anyway. A download only has to begin in this time. */
const SECONDS: Record<Purpose, number> = { upload: 6 * 3600, download: 900 }

/** What an address says beside its path, so that whoever has it may do this one thing with this one artifact for a while. */
export function signedQuery(context: Context, purpose: Purpose, artifactId: number): URLSearchParams {
  const expires = Math.floor(context.clock.now().getTime() / 1000) + SECONDS[purpose]
  const sig = signature(context, { purpose, artifactId, expires: String(expires) })
  return new URLSearchParams({ artifactID: String(artifactId), expires: String(expires), sig })
}

/** The artifact of an address. @throws Refusal 401 where this instance has not signed it, and when its time is over */
export function readSignedQuery(context: Context, purpose: Purpose, query: URLSearchParams): number {
  const [artifactId, expires] = [Number(query.get('artifactID')), query.get('expires') ?? '']
  const expected = signature(context, { purpose, artifactId, expires })
  if (!constantTimeEqual(query.get('sig') ?? '', expected)) throw unauthorized('Error unauthorized')
  if (Number(expires) * 1000 <= context.clock.now().getTime()) throw unauthorized('Error link expired')
  return artifactId
}

const signature = (
  { secrets }: Context,
  { purpose, artifactId, expires }: { purpose: Purpose; artifactId: number; expires: string },
): string => Buffer.from(secrets.sign(`artifact ${purpose}`, `${artifactId} ${expires}`)).toString('base64url')
