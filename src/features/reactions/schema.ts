import { t } from 'elysia'

export type EditReactionOption = typeof EditReactionOption.static
export const EditReactionOption = t.Object(
  { content: t.Optional(t.String({ description: 'One of `allowed_reactions` of `/settings/ui`' })) },
  { $id: 'EditReactionOption' },
)
