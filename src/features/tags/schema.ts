import { t } from 'elysia'

export type CreateTagOption = typeof CreateTagOption.static
export const CreateTagOption = t.Object(
  {
    tag_name: t.String({ minLength: 1, maxLength: 255 }),
    message: t.Optional(t.String({ maxLength: 1024 * 1024, description: 'With one the tag is annotated' })),
    target: t.Optional(
      t.String({ maxLength: 255, description: 'Branch, tag or commit; the default branch when it is left out' }),
    ),
  },
  { $id: 'CreateTagOption' },
)
