import { t } from 'elysia'

/** Characters: far more than a script that calls others needs. */
const MAX_CONTENT = 65_536

export const EditGitHookOption = t.Object(
  {
    content: t.Optional(
      t.String({ maxLength: MAX_CONTENT, description: 'The program; nothing but white space removes it' }),
    ),
  },
  { $id: 'EditGitHookOption' },
)
