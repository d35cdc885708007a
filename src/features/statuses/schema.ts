import { t } from 'elysia'
import { statusStates } from '../../../db/schema/statuses.ts'

export type CreateStatusOption = typeof CreateStatusOption.static
export const CreateStatusOption = t.Object(
  {
    state: t.Union(statusStates.map((state) => t.Literal(state))),
    context: t.Optional(t.String({ maxLength: 255, description: 'Which program says so; its newest word counts' })),
    description: t.Optional(t.String({ maxLength: 10_000 })),
    target_url: t.Optional(t.String({ maxLength: 2048 })),
  },
  { $id: 'CreateStatusOption' },
)
