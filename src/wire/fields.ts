import { Type } from '@sinclair/typebox'

/**
 * A whole number on the wire. Elysia's own `t.Integer` also takes the text "5", which Gitea refuses in JSON; this one
 * does not (forms are coerced before the check, see http/coerce.ts).
 */
export const int64 = (options: { minimum?: number; maximum?: number; description?: string } = {}) =>
  Type.Integer({ format: 'int64', ...options })

/** RFC 3339 with any offset and fraction; the check refuses days and hours that do not exist. */
const RFC3339_TIME =
  '^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])[Tt]([01]\\d|2[0-3]):[0-5]\\d:([0-5]\\d|60)(\\.\\d+)?([Zz]|[+-]\\d{2}:\\d{2})$'

/** A time that a client sends in a body. Read it with `parseTime` of kernel/time.ts. */
export const wireInstant = () => Type.String({ format: 'date-time', pattern: RFC3339_TIME, maxLength: 64 })
