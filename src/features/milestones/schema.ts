import { t } from 'elysia'
import { wireInstant } from '../../wire/fields.ts'

const state = () => t.Optional(t.Union([t.Literal('open'), t.Literal('closed')]))

export type CreateMilestoneOption = typeof CreateMilestoneOption.static
export const CreateMilestoneOption = t.Object(
  {
    title: t.String({ minLength: 1, maxLength: 255 }),
    description: t.Optional(t.String({ maxLength: 65_535 })),
    due_on: t.Optional(wireInstant()),
    state: state(),
  },
  { $id: 'CreateMilestoneOption' },
)

export type EditMilestoneOption = typeof EditMilestoneOption.static
export const EditMilestoneOption = t.Object(
  {
    title: t.Optional(t.String({ maxLength: 255 })),
    description: t.Optional(t.String({ maxLength: 65_535 })),
    due_on: t.Optional(wireInstant()),
    state: state(),
  },
  { $id: 'EditMilestoneOption' },
)
