import { createHash } from 'node:crypto'
import { Refusal } from '../kernel/errors.ts'

interface Target {
  request: Request
  set: { headers: Record<string, string | number | undefined> }
}

/**
 * Writes the ETag made from the versions of all that an answer shows, and ends the request with 304 when the client has that
 * very answer (RFC 9110 section 13.1.2): before the answer is made.
 * @param parts row versions (xmin), commit ids, the reader and whatever else the answer depends on
 * @throws Refusal 304
 */
export function endIfUnchanged(
  { request, set }: Target,
  parts: readonly (string | number | boolean | undefined)[],
): void {
  const digest = createHash('sha256').update(parts.join('\n')).digest('base64url').slice(0, 27)
  const etag = `W/"${digest}"`
  set.headers.etag = etag
  const known = request.headers.get('if-none-match')
  if (known === null) return
  if (known.trim() === '*' || known.split(',').some((tag) => tag.trim() === etag))
    throw new Refusal(304, 'not modified', { headers: { etag } })
}
