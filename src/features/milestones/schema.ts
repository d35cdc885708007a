import { t } from 'elysia'
import { wireInstant } from '../../wire/fields.ts'

/** Wire: clients that always send every key send `""` for what they leave open; it is the same as no key. */
const state = () => t.Optional(t.Union([t.Literal('open'), t.Literal('closed'), t.Literal('')]))

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
