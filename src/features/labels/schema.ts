import { t } from 'elysia'

const name = (text: { minLength?: number } = {}) => t.String({ ...text, maxLength: 255 })
const description = () => t.String({ maxLength: 1000 })

export type CreateLabelOption = typeof CreateLabelOption.static
export const CreateLabelOption = t.Object(
  {
    name: name({ minLength: 1 }),
    color: t.String({ minLength: 1, maxLength: 20, description: 'As #0af, 0af, #00aaff or 00aaff' }),
    description: t.Optional(description()),
    exclusive: t.Optional(t.Boolean()),
    is_archived: t.Optional(t.Boolean()),
  },
  { $id: 'CreateLabelOption' },
)

export type EditLabelOption = typeof EditLabelOption.static
export const EditLabelOption = t.Object(
  {
    name: t.Optional(name({ minLength: 1 })),
    color: t.Optional(t.String({ maxLength: 20 })),
    description: t.Optional(description()),
    exclusive: t.Optional(t.Boolean()),
    is_archived: t.Optional(t.Boolean()),
  },
  { $id: 'EditLabelOption' },
)
