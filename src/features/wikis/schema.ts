import { t } from 'elysia'

export type CreateWikiPageOptions = typeof CreateWikiPageOptions.static
export const CreateWikiPageOptions = t.Object(
  {
    title: t.Optional(t.String({ description: 'A new page needs one; an old one keeps its own without it' })),
    content_base64: t.Optional(
      t.String({ description: 'Base64; without it a new page is empty and an old one stays' }),
    ),
    message: t.Optional(t.String({ maxLength: 65_536, description: 'Without it: what was done to which page' })),
  },
  { $id: 'CreateWikiPageOptions' },
)
