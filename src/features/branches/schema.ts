import { t } from 'elysia'

const branchName = () => t.String({ minLength: 1, maxLength: 100 })

export type CreateBranchRepoOption = typeof CreateBranchRepoOption.static
export const CreateBranchRepoOption = t.Object(
  {
    new_branch_name: branchName(),
    old_branch_name: t.Optional(t.String({ maxLength: 100, description: 'Deprecated: `old_ref_name` does more' })),
    old_ref_name: t.Optional(t.String({ maxLength: 100, description: 'Branch, tag or commit to start from' })),
  },
  { $id: 'CreateBranchRepoOption' },
)

export type RenameBranchRepoOption = typeof RenameBranchRepoOption.static
export const RenameBranchRepoOption = t.Object({ name: branchName() }, { $id: 'RenameBranchRepoOption' })

export type UpdateBranchRepoOption = typeof UpdateBranchRepoOption.static
export const UpdateBranchRepoOption = t.Object(
  {
    new_commit_id: t.String({ minLength: 1, maxLength: 255, description: 'Commit that the branch shall be at' }),
    old_commit_id: t.Optional(t.String({ maxLength: 255, description: 'Commit that the branch must be at' })),
    force: t.Optional(t.Boolean({ description: 'Also when commits leave the branch' })),
  },
  { $id: 'UpdateBranchRepoOption' },
)
