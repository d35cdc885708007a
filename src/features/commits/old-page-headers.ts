import type { Page } from '../../kernel/page.ts'

/** Wire: this list alone has headers of its own for pages, too, which older clients read. */
export function writeOldPageHeaders(
  headers: Record<string, string | number | undefined>,
  page: Page,
  total: number,
): void {
  const pages = Math.ceil(total / page.limit)
  const own = {
    'X-Page': page.number,
    'X-PerPage': page.limit,
    'X-Total': total,
    'X-PageCount': pages,
    'X-HasMore': page.number < pages,
  }
  for (const [name, value] of Object.entries(own)) headers[name.toLowerCase()] = String(value)
  const exposed = 'access-control-expose-headers'
  headers[exposed] = [headers[exposed], ...Object.keys(own)].filter(Boolean).join(', ')
}
