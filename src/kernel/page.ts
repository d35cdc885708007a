/** One page of a list, as the database reads it. */
export interface Page {
  /** 1-based. */
  number: number
  limit: number
  offset: number
  /** Where the page before ended, for lists that go on from there instead of passing over `offset` rows. */
  after?: Position
}

/** A place in an order: what a row's keys are, as PostgreSQL writes them. */
export type Position = readonly string[]

export interface PageBounds {
  defaultLimit: number
  maxLimit: number
}

export interface Paged<Row> {
  rows: Row[]
  /** All rows that match and that the caller may see, not only this page's. */
  total: number
  /** The last row of the page, when the list goes on behind it. */
  next?: Position
}

/** Deeper pages than this are empty anyway; the bound keeps the offset a safe integer for PostgreSQL. */
const MAX_PAGE = 10_000_000

/**
 * Reads `page` and `limit` as the Gitea API does: junk, zero and negative numbers mean the default, too large means the maximum,
 * and of a repeated key the first counts.
 */
export function readPage(query: { page?: unknown; limit?: unknown }, bounds: PageBounds): Page {
  const limit = positive(query.limit)
  const number = Math.min(positive(query.page) ?? 1, MAX_PAGE)
  const size = Math.min(limit ?? bounds.defaultLimit, bounds.maxLimit)
  return { number, limit: size, offset: (number - 1) * size }
}

/** How many rows are read for a page: behind a position one more than are shown, to know whether the list goes on. */
export const rowsToRead = ({ after, limit }: Page): number => (after ? limit + 1 : limit)

/** How many rows are passed over. */
export const rowsToSkip = ({ after, offset }: Page): number => (after ? 0 : offset)

/** Rows that were read for a page, and how many there are in all, which another statement has counted. */
interface Read<Row> {
  rows: Row[]
  total: number
}

/** The page out of the rows that were read for it, and where the next one begins. */
export function cutPage<Row>(page: Page, read: Read<Row>, positionOf: (row: Row) => Position): Paged<Row> {
  const rows = read.rows.slice(0, page.limit)
  const total = page.after ? read.total : totalBeside(page, read)
  const last = rows.at(-1)
  // Behind a position the number of the page does not count: rows before it may have come and gone.
  const goesOn = page.after ? read.rows.length > page.limit : page.offset + rows.length < total
  return { rows, total, ...(goesOn && last !== undefined && { next: positionOf(last) }) }
}

/** The same of a list that is read by its page numbers alone. */
export const numberedPage = <Row>(page: Page, read: Read<Row>): Paged<Row> => ({
  rows: read.rows,
  total: totalBeside(page, read),
})

/**
 * What was counted, made to agree with what is shown: rows may have come or gone between the two statements. A page that is not full
 * ends the list, and says itself how long that is.
 */
function totalBeside({ offset, limit }: Page, { rows, total }: Read<unknown>): number {
  if (rows.length === 0) return Math.min(total, offset)
  return rows.length < limit ? offset + rows.length : Math.max(total, offset + rows.length)
}

function positive(value: unknown): number | undefined {
  const first = Array.isArray(value) ? value[0] : value
  const text = typeof first === 'number' ? String(first) : first
  if (typeof text !== 'string' || !/^\d{1,18}$/.test(text)) return undefined
  const number = Number(text)
  return number > 0 ? number : undefined
}
