import { t } from 'elysia'

const values = () => t.Nullable(t.Record(t.String(), t.Unknown()))
const texts = () => t.Nullable(t.Array(t.String()))

export type IssueFormField = typeof IssueFormField.static
export const IssueFormField = t.Object(
  {
    type: t.Union([
      t.Literal('markdown'),
      t.Literal('textarea'),
      t.Literal('input'),
      t.Literal('dropdown'),
      t.Literal('checkboxes'),
    ]),
    id: t.String(),
    attributes: values(),
    validations: values(),
    visible: t.Array(t.Union([t.Literal('form'), t.Literal('content')])),
  },
  { $id: 'IssueFormField' },
)

export type IssueTemplate = typeof IssueTemplate.static
export const IssueTemplate = t.Object(
  {
    name: t.String(),
    title: t.String(),
    about: t.String(),
    labels: texts(),
    assignees: texts(),
    ref: t.String({ description: 'Full name of a branch or tag; empty when the template names none' }),
    content: t.String({ description: 'Of a template in Markdown' }),
    body: t.Nullable(t.Array(IssueFormField, { description: 'Of a form' })),
    file_name: t.String(),
  },
  { $id: 'IssueTemplate' },
)

export type IssueConfig = typeof IssueConfig.static
export const IssueConfig = t.Object(
  {
    blank_issues_enabled: t.Boolean(),
    contact_links: t.Array(
      t.Object({ name: t.String(), url: t.String(), about: t.String() }, { $id: 'IssueConfigContactLink' }),
    ),
  },
  { $id: 'IssueConfig' },
)

export const IssueConfigValidation = t.Object(
  { valid: t.Boolean(), message: t.String() },
  { $id: 'IssueConfigValidation' },
)
