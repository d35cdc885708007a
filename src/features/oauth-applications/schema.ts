import { t } from 'elysia'

export type CreateOAuth2ApplicationOptions = typeof CreateOAuth2ApplicationOptions.static
export const CreateOAuth2ApplicationOptions = t.Object(
  {
    name: t.String({ minLength: 1, maxLength: 255 }),
    redirect_uris: t.Array(t.String(), { minItems: 1, maxItems: 100 }),
    confidential_client: t.Optional(t.Boolean({ description: 'Whether the application can keep a secret.' })),
    skip_secondary_authorization: t.Optional(
      t.Boolean({
        description: 'Only administrators: not to ask people again who allowed a public application before.',
      }),
    ),
  },
  { $id: 'CreateOAuth2ApplicationOptions' },
)
