import { t } from 'elysia'

/**
 * Every refusal. Wire: `message` and `url` are Gitea's, and `errors` beside a 404; the other keys are those of
 * RFC 9457, for programs. A wrong field is named in `errors`.
 */
export const APIError = t.Object(
  {
    message: t.String(),
    url: t.Optional(t.String({ description: 'Address of the reference page.' })),
    errors: t.Optional(
      t.Nullable(t.Array(t.Union([t.String(), t.Object({ field: t.String(), message: t.String() })]))),
    ),
    type: t.Optional(t.String({ description: 'RFC 9457: `about:blank`, the status says it all.' })),
    code: t.Optional(t.String({ description: 'The kind of refusal as one word.' })),
    request_id: t.Optional(t.String({ description: 'Finds the request in the log of the service.' })),
    invalidTopics: t.Optional(t.Nullable(t.Union([t.String(), t.Array(t.String())]))),
    required_scopes: t.Optional(t.Array(t.String(), { description: 'What the token would need.' })),
  },
  { $id: 'APIError' },
)
