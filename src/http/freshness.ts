import type { Actor } from '../auth/actor.ts'
import type { Context } from '../context.ts'
import { Refusal } from '../kernel/errors.ts'
import { version } from '../version.ts'
import { viewerOf } from './viewer.ts'

interface Asked {
  actor: Actor | undefined
  request: Request
  set: { headers: Record<string, string | number | undefined> }
}

/**
 * Writes the ETag made from the versions of all that an answer shows, and ends the request with 304 when the client has that
 * very answer (RFC 9110 section 13.1.2): before the answer is made. What presenters know of the site and the reader is in every
 * such tag, and so is the version of the program, which may show the same rows in another shape.
 *
 * For reads whose rows tell their versions cheaply; any other JSON gets its tag from its text (answers.ts).
 * @param parts row versions, commit ids and whatever else the answer depends on beside the query: rights, totals, names
 * @throws Refusal 304
 */
export function endIfUnchanged(
  context: Context,
  { actor, request, set }: Asked,
  parts: readonly (string | number | boolean | undefined)[],
): void {
  const etag = weakTag(JSON.stringify([version, viewerOf(context, actor), parts]))
  set.headers.etag = etag
  if (hasCurrent(request, etag)) throw new Refusal(304, 'not modified', { headers: { etag } })
}

/** Weak: the same thing may be sent in several forms, such as compressed by a proxy (RFC 9110 section 8.8.1). */
export const weakTag = (of: string | Uint8Array<ArrayBuffer>): string =>
  `W/"${Bun.SHA256.hash(of, 'base64url').slice(0, 27)}"`

const TAG = /(?:W\/)?("[^"]*")/g

/** Whether `If-None-Match` names the tag (RFC 9110 section 13.1.2, weak comparison), or any there may be. */
export function hasCurrent(request: Request, etag: string): boolean {
  const known = request.headers.get('if-none-match')
  if (known === null) return false
  const opaque = etag.replace(/^W\//, '')
  return known.trim() === '*' || [...known.matchAll(TAG)].some(([, tag]) => tag === opaque)
}
