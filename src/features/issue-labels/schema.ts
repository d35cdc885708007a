import { t } from 'elysia'

export type IssueLabelsOption = typeof IssueLabelsOption.static
export const IssueLabelsOption = t.Object(
  {
    labels: t.Optional(
      t.Array(t.Unknown(), { maxItems: 100, description: 'Either ids or names; unknown ones are ignored' }),
    ),
  },
  { $id: 'IssueLabelsOption' },
)
