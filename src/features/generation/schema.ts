import { t } from 'elysia'

const yesNo = () => t.Optional(t.Boolean())

export type GenerateRepoOption = typeof GenerateRepoOption.static
export const GenerateRepoOption = t.Object(
  {
    owner: t.Optional(t.String({ maxLength: 255, description: 'Yourself, or an organization' })),
    name: t.String({ minLength: 1, maxLength: 100, description: 'Letters, digits, `-`, `_` and `.`' }),
    description: t.Optional(t.String({ maxLength: 2048 })),
    private: yesNo(),
    default_branch: t.Optional(t.String({ maxLength: 100, description: 'Without it: that of the template' })),
    git_content: t.Optional(t.Boolean({ description: 'The files of the default branch, as one commit' })),
    topics: yesNo(),
    labels: yesNo(),
    avatar: yesNo(),
    webhooks: yesNo(),
    git_hooks: t.Optional(t.Boolean({ description: 'Only for those who may set Git hooks' })),
    protected_branch: t.Optional(t.Boolean({ description: 'Rules for branches, without their people and teams' })),
  },
  { $id: 'GenerateRepoOption' },
)
