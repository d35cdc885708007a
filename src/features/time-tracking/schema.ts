import { t } from 'elysia'
import { int64, wireInstant } from '../../wire/fields.ts'

/** Seconds; more than anybody works in a life. */
export const MAX_SECONDS = 2 ** 31 - 1

export type AddTimeOption = typeof AddTimeOption.static
export const AddTimeOption = t.Object(
  {
    time: int64({ minimum: 1, maximum: MAX_SECONDS, description: 'Seconds' }),
    created: t.Optional(wireInstant()),
    user_name: t.Optional(t.String({ maxLength: 255, description: 'Whose work it was; only for administrators' })),
  },
  { $id: 'AddTimeOption' },
)
