import { t } from 'elysia'
import { int64, wireInstant } from '../../wire/fields.ts'

/** Wire: an empty text means the default. */
const visibility = () =>
  t.Union([t.Literal('public'), t.Literal('limited'), t.Literal('private'), t.Literal('')], { error: 'In' })

export type CreateUserOption = typeof CreateUserOption.static
export const CreateUserOption = t.Object(
  {
    username: t.String({ minLength: 1 }),
    email: t.String({ minLength: 1, maxLength: 254 }),
    password: t.Optional(t.String({ maxLength: 255 })),
    full_name: t.Optional(t.String({ maxLength: 100 })),
    login_name: t.Optional(t.String({ maxLength: 255 })),
    source_id: t.Optional(int64()),
    must_change_password: t.Optional(t.Boolean({ description: 'At the first sign-in; true when left out.' })),
    restricted: t.Optional(t.Boolean()),
    send_notify: t.Optional(t.Boolean()),
    visibility: t.Optional(visibility()),
    created_at: t.Optional(wireInstant()),
  },
  { $id: 'CreateUserOption' },
)
