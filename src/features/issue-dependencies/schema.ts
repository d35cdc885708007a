import { t } from 'elysia'
import { int64 } from '../../wire/fields.ts'

export type IssueMeta = typeof IssueMeta.static
export const IssueMeta = t.Object(
  {
    owner: t.Optional(t.String({ maxLength: 255 })),
    repo: t.Optional(t.String({ maxLength: 255 })),
    index: t.Optional(int64({ description: 'The number of the other issue in its repository' })),
  },
  { $id: 'IssueMeta' },
)
