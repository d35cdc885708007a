import { t } from 'elysia'

export const UserBadgeOption = t.Object(
  { badge_slugs: t.Array(t.String({ maxLength: 255 }), { maxItems: 100 }) },
  { $id: 'UserBadgeOption' },
)

const slug = () => t.String({ pattern: '^[A-Za-z0-9_-]+$', minLength: 1, maxLength: 64 })
const description = () => t.String({ maxLength: 255 })
const imageUrl = () => t.String({ maxLength: 2048, description: 'An http or https address, or empty.' })

export type CreateBadgeOption = typeof CreateBadgeOption.static
export const CreateBadgeOption = t.Object(
  { slug: slug(), description: t.Optional(description()), image_url: t.Optional(imageUrl()) },
  { $id: 'CreateBadgeOption' },
)

export type EditBadgeOption = typeof EditBadgeOption.static
export const EditBadgeOption = t.Object(
  { description: t.Optional(description()), image_url: t.Optional(imageUrl()) },
  { $id: 'EditBadgeOption' },
)
