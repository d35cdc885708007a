import { Refusal } from '../kernel/errors.ts'

/**
 * Sends the client to the same path under a new name, as a path relative to the host and without a token of the query.
 * @param from the segments as they stand in the path one after the other, decoded
 */
export function movedTo(
  request: Request,
  { status, from, to }: { status: 301 | 307; from: readonly string[]; to: readonly string[] },
): Refusal {
  const { pathname, searchParams } = new URL(request.url)
  for (const key of ['token', 'access_token']) searchParams.delete(key)
  const segments = pathname.split('/')
  const decoded = segments.map(decodeSegment)
  const index = decoded.findIndex((_, at) => from.every((name, offset) => decoded[at + offset] === name))
  if (index >= 0) segments.splice(index, from.length, ...to.map(encodeURIComponent))
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
