import { Refusal } from '../kernel/errors.ts'

/**
 * Sends the client to the same path under a new name, as a path relative to the host and without a token of the query.
 * @param from the name as it stands in the path, decoded
 */
export function movedTo(
  request: Request,
  { status, from, to }: { status: 301 | 307; from: string; to: string },
): Refusal {
  const { pathname, searchParams } = new URL(request.url)
  for (const key of ['token', 'access_token']) searchParams.delete(key)
  const segments = pathname.split('/')
  const index = segments.findIndex((segment) => decodeSegment(segment) === from)
  if (index >= 0) segments[index] = encodeURIComponent(to)
  const query = searchParams.toString()
  const location = segments.join('/') + (query === '' ? '' : `?${query}`)
  return new Refusal(status, `moved to ${location}`, { headers: { location } })
}

function decodeSegment(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment)
  } catch {
    // A segment that is no valid encoding names nothing.
    return undefined
  }
}
