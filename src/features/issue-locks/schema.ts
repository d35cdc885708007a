import { t } from 'elysia'

export type LockIssueOption = typeof LockIssueOption.static
export const LockIssueOption = t.Object(
  { lock_reason: t.Optional(t.String({ maxLength: 255, description: 'Any text' })) },
  { $id: 'LockIssueOption' },
)
