import { t } from 'elysia'
import fresh from 'fresh'
import type { Actor } from '../auth/actor.ts'
import type { Context } from '../context.ts'
import { version } from '../version.ts'
import { viewerOf } from './viewer.ts'

/** Stands in `response` of a route that answers by `unchangedAnswer`. Every JSON that is read may be answered so: answers.ts. */
export const Unchanged = t.Unsafe<Response>(t.Void())

interface Asked {
  actor: Actor | undefined
  request: Request
  set: { headers: Record<string, string | number | undefined> }
}

/**
 * Writes the ETag made from the versions of all that an answer shows, and gives the answer 304 when the client has that very answer
 * (RFC 9110 section 13.1.2): before it is made. What presenters know of the site and the reader is in every
 * such tag, and so is the version of the program, which may show the same rows in another shape.
 *
 * For reads whose rows tell their versions cheaply; any other JSON gets its tag from its text (answers.ts).
 * @param parts row versions, commit ids and whatever else the answer depends on beside the query: rights, totals, names
 */
export function unchangedAnswer(
  context: Context,
  { actor, request, set }: Asked,
  parts: readonly (string | number | boolean | undefined)[],
): Response | undefined {
  const etag = weakTag(JSON.stringify([version, viewerOf(context, actor), parts]))
  set.headers.etag = etag
  return hasCurrent(request, etag) ? new Response(null, { status: 304, headers: { etag } }) : undefined
}

/** Weak: the same thing may be sent in several forms, such as compressed by a proxy (RFC 9110 section 8.8.1). */
export const weakTag = (of: string | Uint8Array<ArrayBuffer>): string =>
  `W/"${Bun.SHA256.hash(of, 'base64url').slice(0, 27)}"`

/** Whether the client has the answer with this tag (RFC 9110 section 13.1.2), and does not ask for it anew. */
export const hasCurrent = ({ headers }: Request, etag: string): boolean =>
  fresh(
    {
      'if-none-match': headers.get('if-none-match') ?? undefined,
      'cache-control': headers.get('cache-control') ?? undefined,
    },
    { etag },
  )
