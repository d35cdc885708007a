import { Type } from '@sinclair/typebox'

/**
 * A whole number on the wire. Elysia's own `t.Integer` also takes the text "5", which the family refuses in JSON; this one
 * does not (forms are made to fit before the check, see http/fit.ts).
 */
export const int64 = (options: { minimum?: number; maximum?: number; description?: string } = {}) =>
  Type.Integer({ format: 'int64', ...options })
