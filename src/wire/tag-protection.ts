import { t } from 'elysia'
import type { TagProtectionRow } from '../../db/schema/protections.ts'
import { wireTime } from '../kernel/time.ts'
import { int64 } from './fields.ts'

export type TagProtection = typeof TagProtection.static
export const TagProtection = t.Object(
  {
    id: int64(),
    name_pattern: t.String(),
    whitelist_usernames: t.Array(t.String()),
    whitelist_teams: t.Array(t.String()),
    created_at: t.String({ format: 'date-time' }),
    updated_at: t.String({ format: 'date-time' }),
  },
  { $id: 'TagProtection' },
)

export interface ShownTagProtection extends TagProtectionRow {
  people: string[]
  teams: string[]
}

export const presentTagProtection = (rule: ShownTagProtection): TagProtection => ({
  id: rule.id,
  name_pattern: rule.namePattern,
  whitelist_usernames: rule.people,
  whitelist_teams: rule.teams,
  created_at: wireTime(rule.createdAt),
  updated_at: wireTime(rule.updatedAt),
})
