import type { Context } from '../context.ts'
import { type Page, type Position, readPage } from '../kernel/page.ts'
import { type AskedList, readCursor, writeCursor } from './cursor.ts'

interface Target {
  request: Request
  set: { headers: Record<string, string | number | undefined> }
}

export interface Paging {
  page: Page
  /** Writes `x-total-count`, and `link` only to those who walk the list by its cursors. */
  total(count: number, next?: Position): void
  /** Writes `x-total-count` and, with more than one page, `link`. */
  links(count: number, next?: Position): void
}

/**
 * From this length on the `next` link carries a cursor unasked. Wire: shorter lists have the very link of the Gitea API, and are
 * read whole in a few pages.
 */
const LONG_LIST = 100

/**
 * Reads the page that a list was asked for and writes the headers that answer it. Each list states which headers it has: the
 * lists of the Gitea API are not alike in this. A list that gives `next` can be walked: the cursor in the `next` link goes on behind the last
 * row, so that rows that come and go are neither skipped nor repeated and the deepest page costs what the first one does.
 * @throws Refusal 422 for a cursor that is not the list's own
 */
export function paging(
  { config, baseUrl, secrets }: Context,
  query: { page?: unknown; limit?: unknown; cursor?: unknown },
  target: Target,
): Paging {
  const bounds = { defaultLimit: config.defaultPagingNum, maxLimit: config.maxResponseItems }
  const cursor = first(query.cursor)
  const after = cursor ? readCursor(secrets, askedList(target.request), cursor) : undefined
  const page: Page = { ...readPage(query, bounds), ...(after && { after }) }
  const write = (headers: Record<string, string>) => {
    for (const [name, value] of Object.entries(headers)) target.set.headers[name] = value
  }
  const isWalked = (count: number) => cursor !== undefined || count > LONG_LIST
  const total = (count: number, next?: Position) => {
    if (next && isWalked(count)) links(count, next)
    else write({ 'x-total-count': String(count), 'access-control-expose-headers': 'X-Total-Count' })
  }
  const links = (count: number, next?: Position) => {
    const list = askedList(target.request)
    const cursor = next && isWalked(count) ? writeCursor(secrets, list, next) : undefined
    const link = linkHeader({ ...list, path: `${baseUrl}${list.path}` }, page, { count, cursor })
    if (link === undefined) return total(count)
    write({ link, 'x-total-count': String(count), 'access-control-expose-headers': 'Link, X-Total-Count' })
  }
  return { page, total, links }
}

const first = (value: unknown): string | undefined => {
  const [one] = [value].flat()
  return typeof one === 'string' ? one : undefined
}

function askedList({ url }: Request): AskedList {
  const { pathname, searchParams } = new URL(url)
  return { path: pathname, query: searchParams }
}

/**
 * RFC 8288. Wire: the order is next, last, first, prev; the query is repeated as it came, only `page` is replaced; beyond the
 * end `prev` is the page before the last one. The host is the configured one: the request's may be forged.
 */
function linkHeader(
  list: AskedList,
  page: Page,
  { count, cursor: nextCursor }: { count: number; cursor: string | undefined },
): string | undefined {
  const lastPage = Math.max(1, Math.ceil(count / page.limit))
  const current = Math.min(page.number, lastPage)
  const links: [string, number, string?][] = []
  // Behind a cursor the rows themselves show whether there are more; the number only counts the steps.
  if (page.after ? nextCursor !== undefined : current < lastPage) links.push(['next', page.number + 1, nextCursor])
  if (current < lastPage) links.push(['last', lastPage])
  if (current > 1) links.push(['first', 1], ['prev', current - 1])
  if (links.length === 0) return undefined
  const [before, behind] = aroundPage(list)
  return links
    .map(([relation, number, cursor]) => {
      const query = `${number}${behind}${cursor === undefined ? '' : `&cursor=${cursor}`}`
      return `<${before}${query}>; rel="${relation}"`
    })
    .join(',')
}

/** The address in the order of its keys, cut in two where the number of the page stands. */
function aroundPage({ path, query }: AskedList): [string, string] {
  // A secret in the query must not come back in a header that may be stored and forwarded.
  for (const key of ['token', 'access_token', 'cursor']) query.delete(key)
  query.set('page', '')
  query.sort()
  const text = `&${query}`
  const cut = text.indexOf('&page=') + '&page='.length
  return [`${path}?${text.slice(1, cut)}`, text.slice(cut)]
}
