import type { Context } from '../context.ts'
import { type Page, readPage } from '../kernel/page.ts'

interface Target {
  request: Request
  set: { headers: Record<string, string | number | undefined> }
}

export interface Paging {
  page: Page
  /** Writes only `x-total-count`. */
  total(count: number): void
  /** Writes `x-total-count` and, with more than one page, `link`. */
  links(count: number): void
}

/**
 * Reads the page that a list was asked for and writes the headers that answer it. Each list states which headers it has: the
 * family's lists are not alike in this.
 */
export function paging(context: Context, query: { page?: unknown; limit?: unknown }, target: Target): Paging {
  const { config, baseUrl } = context
  const page = readPage(query, { defaultLimit: config.defaultPagingNum, maxLimit: config.maxResponseItems })
  const write = (headers: Record<string, string>) => {
    for (const [name, value] of Object.entries(headers)) target.set.headers[name] = value
  }
  const total = (count: number) =>
    write({ 'x-total-count': String(count), 'access-control-expose-headers': 'X-Total-Count' })
  const links = (count: number) => {
    const { pathname, search } = new URL(target.request.url)
    const link = linkHeader(`${baseUrl}${pathname}${search}`, page, count)
    if (link === undefined) return total(count)
    write({ link, 'x-total-count': String(count), 'access-control-expose-headers': 'Link, X-Total-Count' })
  }
  return { page, total, links }
}

/**
 * RFC 8288. Wire: the order is next, last, first, prev; the query is repeated as it came, only `page` is replaced; beyond the
 * end `prev` is the page before the last one. The host is the configured one: the request's may be forged.
 */
export function linkHeader(url: string, page: Page, count: number): string | undefined {
  const lastPage = Math.max(1, Math.ceil(count / page.limit))
  const current = Math.min(page.number, lastPage)
  const links: [string, number][] = []
  if (current < lastPage) links.push(['next', current + 1], ['last', lastPage])
  if (current > 1) links.push(['first', 1], ['prev', current - 1])
  if (links.length === 0) return undefined
  const address = new URL(url)
  // A secret in the query must not come back in a header that is kept and forwarded.
  for (const key of ['token', 'access_token']) address.searchParams.delete(key)
  return links
    .map(([relation, number]) => {
      address.searchParams.set('page', String(number))
      address.searchParams.sort()
      return `<${address.href}>; rel="${relation}"`
    })
    .join(',')
}
