import { t } from 'elysia'

const Field = t.Object({ field: t.String(), message: t.String() })

/** Every refusal. `message` and `url` are Gitea's; the others are for programs (RFC 9457). */
export const APIError = t.Object(
  {
    message: t.String(),
    url: t.Optional(t.String()),
    errors: t.Optional(t.Nullable(t.Array(t.Union([t.String(), Field])))),
    type: t.Optional(t.String()),
    code: t.Optional(t.String()),
    request_id: t.Optional(t.String()),
    required_scopes: t.Optional(t.Array(t.String())),
  },
  { $id: 'APIError' },
)
