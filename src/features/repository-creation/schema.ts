import { type Static, t } from 'elysia'

const yesNo = () => t.Optional(t.Boolean())

export type CreateRepoOption = Static<typeof CreateRepoOption>
export const CreateRepoOption = t.Object(
  {
    name: t.String({ minLength: 1, maxLength: 100, description: 'Letters, digits, `-`, `_` and `.`' }),
    description: t.Optional(t.String({ maxLength: 2048 })),
    private: yesNo(),
    template: yesNo(),
    auto_init: t.Optional(t.Boolean({ description: 'Begin with a commit of the files that are asked for' })),
    readme: t.Optional(t.String({ maxLength: 255, description: 'Name of a template; `Default` without it' })),
    gitignores: t.Optional(t.String({ maxLength: 4096, description: 'Names of templates, separated by commas' })),
    license: t.Optional(t.String({ maxLength: 100, description: 'Key of a license template' })),
    issue_labels: t.Optional(t.String({ maxLength: 255, description: 'Name of a label template' })),
    default_branch: t.Optional(t.String({ maxLength: 100 })),
    object_format_name: t.Optional(
      t.Union([t.Literal('sha1'), t.Literal('sha256'), t.Literal('')], { description: 'Empty means sha1' }),
    ),
    trust_model: t.Optional(
      t.Union([
        t.Literal('default'),
        t.Literal('collaborator'),
        t.Literal('committer'),
        t.Literal('collaboratorcommitter'),
        t.Literal(''),
      ]),
    ),
  },
  { $id: 'CreateRepoOption' },
)
