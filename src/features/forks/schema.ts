import { t } from 'elysia'

export type CreateForkOption = typeof CreateForkOption.static
export const CreateForkOption = t.Object(
  {
    name: t.Optional(t.String({ maxLength: 100, description: 'Without it: the name of the repository' })),
    organization: t.Optional(t.String({ maxLength: 40, description: 'Without it: your own account' })),
    default_branch_only: t.Optional(t.Boolean({ description: 'Leaves out all other branches and the tags' })),
  },
  { $id: 'CreateForkOption' },
)
