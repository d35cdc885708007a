import { t } from 'elysia'
import { int64, wireInstant } from '../../wire/fields.ts'

/** Longer texts belong into files. */
export const MAX_BODY_LENGTH = 1024 * 1024
const body = () => t.String({ maxLength: MAX_BODY_LENGTH })
const name = () => t.String({ maxLength: 255 })

export type CreateIssueOption = typeof CreateIssueOption.static
export const CreateIssueOption = t.Object(
  {
    title: t.String({ minLength: 1, maxLength: 255 }),
    body: t.Optional(body()),
    ref: t.Optional(name()),
    assignee: t.Optional(name()),
    assignees: t.Optional(t.Array(name(), { maxItems: 50 })),
    due_date: t.Optional(wireInstant()),
    milestone: t.Optional(int64({ description: 'The id of a milestone; 0 is none' })),
    labels: t.Optional(t.Array(int64(), { maxItems: 100 })),
    closed: t.Optional(t.Boolean()),
  },
  { $id: 'CreateIssueOption' },
)

export type EditIssueOption = typeof EditIssueOption.static
export const EditIssueOption = t.Object(
  {
    title: t.Optional(t.String({ maxLength: MAX_BODY_LENGTH, description: 'Cut to 255 bytes' })),
    body: t.Optional(body()),
    ref: t.Optional(name()),
    assignee: t.Optional(name()),
    assignees: t.Optional(t.Array(name(), { maxItems: 50 })),
    milestone: t.Optional(int64({ description: 'The id of a milestone; 0 takes it off' })),
    state: t.Optional(
      t.String({ maxLength: 255, description: '`open` or `closed`; anything else is refused with 412' }),
    ),
    due_date: t.Optional(wireInstant()),
    unset_due_date: t.Optional(t.Boolean()),
    content_version: t.Optional(int64({ description: 'Refuses the change with 409 when the text has changed since' })),
  },
  { $id: 'EditIssueOption' },
)
