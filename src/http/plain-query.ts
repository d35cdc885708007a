import { Elysia } from 'elysia'

/** A value that begins with a bracket, as it is or encoded. */
const BRACKET = /[?&][^=&#]*=(?:\[|%5b)/i

/** Elysia's own type forgets that a key may be repeated. */
interface QueryContext {
  request: Request
  query: Record<string, unknown>
}

/**
 * Elysia takes a value that begins with `[` for a list where a key may be repeated: of `?q=[bug] crash` it would leave `bug] cras`.
 * Nobody writes lists like that here, so such a query is read once more, as it is.
 */
export const plainQueries = () =>
  new Elysia({ name: 'plain-queries' }).onTransform({ as: 'global' }, (context: QueryContext) => {
    const { url } = context.request
    if (BRACKET.test(url)) context.query = readQuery(url)
  })

function readQuery(url: string): Record<string, string | string[]> {
  const parameters = new URL(url).searchParams
  const entries = [...new Set(parameters.keys())].map((key): [string, string | string[]] => {
    const values = parameters.getAll(key)
    return [key, values.length === 1 ? (values[0] ?? '') : values]
  })
  return Object.fromEntries(entries)
}
