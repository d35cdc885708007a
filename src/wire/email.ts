import { t } from 'elysia'
import type { EmailRow } from '../../db/schema/users.ts'
import { int64 } from './fields.ts'

export type Email = typeof Email.static
export const Email = t.Object(
  { email: t.String(), verified: t.Boolean(), primary: t.Boolean(), user_id: int64(), username: t.String() },
  { $id: 'Email' },
)

/** Wire: only administrators see whose address it is. In a person's own list these are 0 and empty. */
export const presentEmail = (row: EmailRow, owner?: { id: number; name: string }): Email => ({
  email: row.email,
  verified: row.isActivated,
  primary: row.isPrimary,
  user_id: owner?.id ?? 0,
  username: owner?.name ?? '',
})
