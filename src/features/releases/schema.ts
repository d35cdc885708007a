import { t } from 'elysia'

/** Longer texts belong into files. */
const MAX_BODY_LENGTH = 1024 * 1024

const settings = {
  name: t.Optional(t.String({ maxLength: 255 })),
  body: t.Optional(t.String({ maxLength: MAX_BODY_LENGTH })),
  target_commitish: t.Optional(
    t.String({ maxLength: 255, description: 'Branch, tag or commit that a tag is made from where there is none' }),
  ),
  draft: t.Optional(t.Boolean()),
  prerelease: t.Optional(t.Boolean()),
}

export type CreateReleaseOption = typeof CreateReleaseOption.static
export const CreateReleaseOption = t.Object(
  {
    tag_name: t.String({ minLength: 1, maxLength: 255 }),
    tag_message: t.Optional(t.String({ maxLength: MAX_BODY_LENGTH, description: 'With one a new tag is annotated' })),
    ...settings,
  },
  { $id: 'CreateReleaseOption' },
)

export type EditReleaseOption = typeof EditReleaseOption.static
export const EditReleaseOption = t.Object(
  { tag_name: t.Optional(t.String({ maxLength: 255 })), ...settings },
  { $id: 'EditReleaseOption' },
)
