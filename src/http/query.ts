import { t } from 'elysia'
import { invalid } from '../kernel/errors.ts'
import { parseTime } from '../kernel/time.ts'

/**
 * Query values as the Gitea API reads them. Only `queryInstant` refuses a value for its form: unreadable numbers and booleans mean
 * the default, and of a repeated key the first counts.
 */
const raw = (shown: QueryShape) => t.Union([t.String(), t.Array(t.String())], { 'x-shown': shown })

/** What the API description says about a value. Nothing of it is enforced. */
interface Shown {
  description?: string
  enum?: readonly string[]
}

/** What the API description says of a value that is read leniently. */
interface QueryShape extends Shown {
  type: 'string' | 'integer' | 'boolean' | 'array'
  format?: string
  items?: QueryShape
}

/** PostgreSQL cannot keep NUL in a text; with its stand-in the value is merely one that nothing has. */
const readable = (text: string): string => text.replaceAll('\0', '\uFFFD')

const first = (value: string | string[]): string | undefined => {
  const [text] = [value].flat()
  return text === undefined ? undefined : readable(text)
}

/** A text; empty counts as absent. */
export const queryText = (shown: Shown = {}) =>
  t.Optional(
    t
      .Transform(raw({ type: 'string', ...shown }))
      .Decode((value) => first(value) || undefined)
      .Encode((value) => value ?? ''),
  )

/** A whole number; anything else counts as absent. */
export const queryInteger = (shown: Shown = {}) =>
  t.Optional(
    t
      .Transform(raw({ type: 'integer', ...shown }))
      .Decode((value) => {
        const text = first(value) ?? ''
        return /^-?\d{1,15}$/.test(text) ? Number(text) : undefined
      })
      .Encode((value) => String(value ?? '')),
  )

/** Wire: absent or empty is undefined (no filter), unreadable is false. */
export const queryBoolean = (shown: Shown = {}) =>
  t.Optional(
    t
      .Transform(raw({ type: 'boolean', ...shown }))
      .Decode((value) => {
        const text = first(value)
        return text ? /^(1|t|true)$/i.test(text) : undefined
      })
      .Encode((value) => String(value ?? '')),
  )

const MOMENT = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d(?:\.\d+)?)?(?:Z|([+\- ])(\d\d):?(\d\d)?)?)?$/i

/**
 * A time as clients write it: RFC 3339, or with `+0000` for the zone as generated clients do, with the `+` that became a blank
 * in a query, without a zone (UTC), without seconds, or a day alone.
 */
function readMoment(value: string | string[]): Date | undefined {
  const [, day, minute = '00:00', second = ':00', sign, hours = '00', minutes = '00'] =
    MOMENT.exec(first(value)?.trim() ?? '') ?? []
  return day === undefined
    ? undefined
    : parseTime(`${day}T${minute}${second}${sign === '-' ? '-' : '+'}${hours}:${minutes}`)
}

/**
 * Wire: a time, refused when it is unreadable: a client that follows changes would take all for new.
 * @param refuse 422 unless it says otherwise
 */
export const queryInstant = (name: string, refuse = () => invalid('is no RFC 3339 time', name)) =>
  t.Optional(
    t
      .Transform(raw({ type: 'string', format: 'date-time' }))
      .Decode((value) => {
        const at = readMoment(value)
        if (!at && first(value)?.trim()) throw refuse()
        return at
      })
      .Encode((value) => value?.toISOString() ?? ''),
  )

/** As many different values as a list may have: no list of any use comes near, and each costs the database something. */
const MAX_LIST_VALUES = 100

/** Every value of a repeated key, and of a list separated by commas, once. More than a hundred are refused with 422. */
export const queryList = ({ description, ...items }: Shown = {}) =>
  t.Optional(
    t
      .Transform(raw({ type: 'array', description, items: { type: 'string', ...items } }))
      .Decode((value) => {
        const values = new Set([value].flat().flatMap((text) => readable(text).split(',')))
        values.delete('')
        if (values.size > MAX_LIST_VALUES) throw invalid(`a list in the query may have ${MAX_LIST_VALUES} values`)
        return [...values]
      })
      .Encode((value) => value),
  )

/** What every paged list accepts. Read by `paging`. */
export const pageQuery = {
  page: t.Optional(raw({ type: 'integer', description: 'Page, from 1.' })),
  limit: t.Optional(raw({ type: 'integer', description: 'Items on a page.' })),
}

/** What a list accepts that can be walked: `paging` reads the cursor and refuses one that is not the list's own. */
export const cursorQuery = {
  ...pageQuery,
  cursor: t.Optional(
    raw({
      type: 'string',
      description:
        'Goes on behind the last item of the page before: taken from the `next` link, never made up. Empty asks for links with cursors.',
    }),
  ),
}
