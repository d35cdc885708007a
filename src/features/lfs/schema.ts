import { t } from 'elysia'

/** What a client says of an object. The answer has an error for each wrong object. */
export const NamedObject = t.Object({ oid: t.String(), size: t.Number() })
export type NamedObject = typeof NamedObject.static

export const BatchRequest = t.Object({
  operation: t.Union([t.Literal('download'), t.Literal('upload')]),
  transfers: t.Optional(t.Array(t.String())),
  hash_algo: t.Optional(t.String()),
  objects: t.Array(NamedObject),
})

const Ref = t.Optional(t.Unknown({ description: 'The branch: locks here hold for all of them' }))

export const CreateLock = t.Object({ path: t.String(), ref: Ref })

export const VerifyLocks = t.Object({
  cursor: t.Optional(t.String()),
  limit: t.Optional(t.Integer()),
  ref: Ref,
})

export const Unlock = t.Object({ force: t.Optional(t.Boolean()), ref: Ref })

/** An object that can be: a SHA-256 in small digits, and a size that a file can have. */
export const isObject = ({ oid, size }: NamedObject): boolean =>
  /^[0-9a-f]{64}$/.test(oid) && Number.isSafeInteger(size) && size >= 0
