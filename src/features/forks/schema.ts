import { t } from 'elysia'

export type MergeUpstreamRequest = typeof MergeUpstreamRequest.static
export const MergeUpstreamRequest = t.Object(
  {
    branch: t.Optional(t.String({ maxLength: 255, description: 'Of the fork' })),
    ff_only: t.Optional(t.Boolean({ description: 'Refuses (400) where a merge would be needed' })),
  },
  { $id: 'MergeUpstreamRequest' },
)

export const MergeUpstreamResponse = t.Object(
  { merge_type: t.Union([t.Literal('up-to-date'), t.Literal('fast-forward'), t.Literal('merge')]) },
  { $id: 'MergeUpstreamResponse' },
)

export type CreateForkOption = typeof CreateForkOption.static
export const CreateForkOption = t.Object(
  {
    name: t.Optional(t.String({ maxLength: 100, description: 'Without it: the name of the repository' })),
    organization: t.Optional(t.String({ maxLength: 40, description: 'Without it: your own account' })),
    default_branch_only: t.Optional(t.Boolean({ description: 'Leaves out all other branches and the tags' })),
  },
  { $id: 'CreateForkOption' },
)
