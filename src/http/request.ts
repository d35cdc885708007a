import { newRequestId } from '../kernel/ids.ts'

const ids = new WeakMap<Request, string>()

/** The id of a request: in its answer's headers, in the body of an error and in every log line about it. */
export function requestId(request: Request): string {
  const known = ids.get(request)
  if (known) return known
  const id = newRequestId()
  ids.set(request, id)
  return id
}

/** For a request that is made anew from another: it keeps the id. */
export function inheritRequestId(from: Request, to: Request): void {
  ids.set(to, requestId(from))
}

/** The path alone: the query may hold a token, and no log line may. */
export function loggedPath(url: string): string {
  const start = url.indexOf('/', url.indexOf('://') + 3)
  const end = url.indexOf('?', start)
  return start < 0 ? '/' : url.slice(start, end < 0 ? undefined : end)
}
