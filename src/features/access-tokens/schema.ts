import { t } from 'elysia'
import { wireInstant } from '../../wire/fields.ts'

const RepositoryTarget = t.Object({ owner: t.String({ minLength: 1 }), name: t.String({ minLength: 1 }) })

export type CreateAccessTokenOption = typeof CreateAccessTokenOption.static
export const CreateAccessTokenOption = t.Object(
  {
    name: t.String({ minLength: 1, maxLength: 255 }),
    scopes: t.Optional(
      t.Array(t.String({ maxLength: 100 }), {
        maxItems: 100,
        description: 'Without any the token reads public things only.',
      }),
    ),
    repositories: t.Optional(
      t.Array(RepositoryTarget, { maxItems: 100, description: 'The only repositories that the token shall reach.' }),
    ),
    expires_at: t.Optional(wireInstant()),
  },
  { $id: 'CreateAccessTokenOption' },
)
