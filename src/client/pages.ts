import { type Answer, type CallOptions, RefusedError } from './answer.ts'

interface PageQuery {
  page?: number
  limit?: number
  cursor?: string
}

/** An operation that answers with one page of a list, such as `client.api.v1.user.repos.get`. */
type List<Page, Options> = (options?: Options) => Promise<Answer<Page, unknown>>

/** The items of a page are the page itself, or a list inside it: `{ total_count, jobs: [...] }`. */
export type ItemOf<Page> = Page extends readonly (infer Item)[]
  ? Item
  : { [Key in keyof Page]: Page[Key] extends readonly (infer Item)[] ? Item : never }[keyof Page]

type Asked = CallOptions & { query?: PageQuery }

/**
 * Every page of a list from the first on, or from the one in `options.query`. Where the list can be walked by cursors, what comes and
 * goes meanwhile is neither skipped nor repeated.
 * @throws RefusedError when a page is refused
 */
export function everyPage<Page, Options extends CallOptions & { query?: object }>(
  list: List<Page, Options>,
  options?: NoInfer<Options>,
): AsyncGenerator<Page, void, undefined>
export async function* everyPage<Page>(list: List<Page, Asked>, options: Asked = {}): AsyncGenerator<Page> {
  // An empty cursor asks for links with cursors; lists without them do not read it.
  let query: PageQuery | undefined = { cursor: '', ...options.query }
  let seen = 0
  while (query !== undefined) {
    const { data, error, status, headers } = await list({ ...options, query })
    if (data === null) throw new RefusedError(status, saidBy(error))
    const count = itemsOf(data).length
    if (count > 0) yield data
    seen += count
    query = count === 0 ? undefined : nextPage(query, headers, seen)
  }
}

/**
 * Every item of a list, page by page: `for await (const repo of everyItem(client.api.v1.user.repos.get)) ...`
 * @throws RefusedError when a page is refused
 */
export function everyItem<Page, Options extends CallOptions & { query?: object }>(
  list: List<Page, Options>,
  options?: NoInfer<Options>,
): AsyncGenerator<ItemOf<Page>, void, undefined>
export async function* everyItem(list: List<unknown, Asked>, options?: Asked): AsyncGenerator<unknown> {
  for await (const page of everyPage(list, options)) yield* itemsOf(page)
}

function itemsOf(page: unknown): readonly unknown[] {
  if (Array.isArray(page)) return page
  const inside = typeof page === 'object' && page !== null ? Object.values(page) : []
  return inside.find((value) => Array.isArray(value)) ?? []
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
