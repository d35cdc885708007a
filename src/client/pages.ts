import { type Answer, type CallOptions, RefusedError } from './answer.ts'

interface PageQuery {
  page?: number
  limit?: number
  cursor?: string
}

/** An operation that answers with one page of a list, such as `client.api.v1.user.repos.get`. */
type List<Item, Options> = (options?: Options) => Promise<Answer<readonly Item[], unknown>>

/**
 * Every page of a list from the first on, or from the one in `options.query`. Where the list can be walked by cursors, what comes and
 * goes meanwhile is neither skipped nor repeated.
 * @throws RefusedError when a page is refused
 */
export function everyPage<Item, Options extends CallOptions & { query?: object }>(
  list: List<Item, Options>,
  options?: NoInfer<Options>,
): AsyncGenerator<readonly Item[], void, undefined>
export async function* everyPage<Item>(
  list: List<Item, CallOptions & { query?: PageQuery }>,
  options: CallOptions & { query?: PageQuery } = {},
): AsyncGenerator<readonly Item[], void, undefined> {
  // An empty cursor asks for links with cursors; lists without them do not read it.
  let query: PageQuery | undefined = { cursor: '', ...options.query }
  let seen = 0
  while (query !== undefined) {
    const { data, error, status, headers } = await list({ ...options, query })
    if (data === null) throw new RefusedError(status, error === null ? '' : saidBy(error))
    if (data.length > 0) yield data
    seen += data.length
    query = data.length === 0 ? undefined : nextPage(query, headers, seen)
  }
}

/**
 * Every item of a list, page by page: `for await (const repo of everyItem(client.api.v1.user.repos.get)) ...`
 * @throws RefusedError when a page is refused
 */
export async function* everyItem<Item, Options extends CallOptions & { query?: object }>(
  list: List<Item, Options>,
  options?: NoInfer<Options>,
): AsyncGenerator<Item, void, undefined> {
  for await (const page of everyPage(list, options)) yield* page
}

const saidBy = (error: unknown): unknown =>
  typeof error === 'object' && error !== null && 'value' in error ? error.value : error

/** RFC 8288: what the link `next` says. Some lists have no links, and only say how many items there are. */
function nextPage(query: PageQuery, headers: Headers, seen: number): PageQuery | undefined {
  const links = headers.get('link')
  if (links === null) {
    const hasMore = Number(headers.get('x-total-count')) > seen
    return hasMore ? { ...query, page: (query.page ?? 1) + 1 } : undefined
  }
  const next = /<([^>]*)>\s*;[^,]*\brel="?next"?/.exec(links)?.[1]
  if (next === undefined) return undefined
  const asked = new URL(next, 'http://localhost').searchParams
  return { ...query, page: Number(asked.get('page')), cursor: asked.get('cursor') ?? '' }
}
