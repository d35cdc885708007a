import { t } from 'elysia'
import { int64 } from '../../wire/fields.ts'

export type TransferRepoOption = typeof TransferRepoOption.static
export const TransferRepoOption = t.Object(
  {
    new_owner: t.Optional(t.String({ maxLength: 255, description: 'A person or an organization' })),
    team_ids: t.Optional(
      t.Array(int64(), { maxItems: 100, description: 'Teams of the new owner that shall reach the repository' }),
    ),
  },
  { $id: 'TransferRepoOption' },
)
