import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'

/** One key of an order. Never null: whether a null comes before or after a value has no answer here. */
export interface SortKey {
  key: SQLWrapper
  type: 'bigint' | 'boolean' | 'text' | 'timestamptz'
  isDescending?: boolean
}

/** For `order by`. */
export const inOrder = (keys: readonly SortKey[]): SQL =>
  sql.join(
    keys.map(({ key, isDescending }) => sql`${key} ${sql.raw(isDescending ? 'desc' : 'asc')}`),
    sql`, `,
  )

/**
 * The rows that come after a position of the order, as a condition; without a position there is none. Keys of one direction are
 * compared as a row, which is what an index on them finds; where the direction changes, what comes before must be equal.
 * @param position a text for each key, in the form of PostgreSQL
 */
export function afterPosition(keys: readonly SortKey[], position: readonly string[] | undefined): SQL | undefined {
  if (position === undefined) return undefined
  if (keys.length !== position.length || keys.length === 0) throw new Error('a position has a value for each key')
  return beyond(keys, position)
}

function beyond(keys: readonly SortKey[], position: readonly string[]): SQL {
  const [first] = keys
  const same = keys.findIndex(({ isDescending = false }) => isDescending !== (first?.isDescending ?? false))
  const length = same === -1 ? keys.length : same
  const [left, right] = [rowOf(keys.slice(0, length)), valuesOf(keys.slice(0, length), position)]
  const sign = sql.raw(first?.isDescending ? '<' : '>')
  // For orders over several tables, where no index knows the row: by owner and name it made 4 ms of 287 in 100,000 repositories.
  const bound = length === 1 ? sql`` : sql`${first?.key} ${sign}= ${valuesOf(keys.slice(0, 1), position)} and `
  const further = sql`(${bound}${left} ${sign} ${right})`
  if (length === keys.length) return further
  return sql`(${further} or (${left} = ${right} and ${beyond(keys.slice(length), position.slice(length))}))`
}

/** The key as a position holds it. A time that JavaScript has read is short of its microseconds. */
export const positionText = ({ key, type }: SortKey): SQL<string> =>
  type === 'timestamptz' ? sql<string>`${key}::text` : sql<string>`${key}`

const rowOf = (keys: readonly SortKey[]): SQL =>
  sql`(${sql.join(
    keys.map(({ key }) => sql`${key}`),
    sql`, `,
  )})`

const valuesOf = (keys: readonly SortKey[], position: readonly string[]): SQL =>
  sql`(${sql.join(
    keys.map(({ type }, index) => sql`${position[index]}::text::${sql.raw(type)}`),
    sql`, `,
  )})`
