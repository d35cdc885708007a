/** One page of a list, as the database reads it. */
export interface Page {
  /** 1-based. */
  number: number
  limit: number
  offset: number
}

export interface PageBounds {
  defaultLimit: number
  maxLimit: number
}

export interface Paged<Row> {
  rows: Row[]
  /** All rows that match and that the caller may see, not only this page's. */
  total: number
}

/** Deeper pages than this are empty anyway; the bound keeps the offset a safe integer for PostgreSQL. */
const MAX_PAGE = 10_000_000

/**
 * Reads `page` and `limit` as the family does: junk, zero and negative numbers mean the default, too large means the maximum,
 * and of a repeated key the first counts.
 */
export function readPage(query: { page?: unknown; limit?: unknown }, bounds: PageBounds): Page {
  const limit = positive(query.limit)
  const number = Math.min(positive(query.page) ?? 1, MAX_PAGE)
  const size = Math.min(limit ?? bounds.defaultLimit, bounds.maxLimit)
  return { number, limit: size, offset: (number - 1) * size }
}

function positive(value: unknown): number | undefined {
  const first = Array.isArray(value) ? value[0] : value
  const text = typeof first === 'number' ? String(first) : first
  if (typeof text !== 'string' || !/^\d{1,18}$/.test(text)) return undefined
  const number = Number(text)
  return number > 0 ? number : undefined
}
