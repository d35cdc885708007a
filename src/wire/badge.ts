import { t } from 'elysia'
import type { BadgeRow } from '../../db/schema/users.ts'
import { int64 } from './fields.ts'

export type Badge = typeof Badge.static
export const Badge = t.Object(
  { id: int64(), slug: t.String(), description: t.String(), image_url: t.String() },
  { $id: 'Badge' },
)

export const presentBadge = ({ id, slug, description, imageUrl }: BadgeRow): Badge => ({
  id,
  slug,
  description,
  image_url: imageUrl,
})
