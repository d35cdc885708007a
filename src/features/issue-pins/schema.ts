import { t } from 'elysia'

export const NewIssuePinsAllowed = t.Object(
  { issues: t.Boolean(), pull_requests: t.Boolean() },
  { $id: 'NewIssuePinsAllowed' },
)
