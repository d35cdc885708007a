import { t } from 'elysia'
import { MAX_KEY_TEXT_LENGTH } from './parse.ts'

export type CreateKeyOption = typeof CreateKeyOption.static
export const CreateKeyOption = t.Object(
  {
    title: t.String({ minLength: 1, maxLength: 255 }),
    key: t.String({ minLength: 1, maxLength: MAX_KEY_TEXT_LENGTH, description: 'A line as in authorized_keys.' }),
    read_only: t.Optional(t.Boolean({ description: 'Whether the key only fetches: a push with it is refused.' })),
  },
  { $id: 'CreateKeyOption' },
)
