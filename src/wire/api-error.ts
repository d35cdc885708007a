import { t } from 'elysia'

/** The kind of a refusal as one word, by its status. */
const codes: Readonly<Record<number, string>> = {
  400: 'bad_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  409: 'conflict',
  410: 'gone',
  412: 'precondition_failed',
  413: 'too_large',
  414: 'uri_too_long',
  416: 'range_not_satisfiable',
  422: 'invalid',
  423: 'locked',
  429: 'too_many_requests',
  431: 'head_too_large',
  500: 'internal',
  503: 'unavailable',
  507: 'insufficient_storage',
}

/** For a status that no operation has. */
const OTHER = 'error'

export const codeOf = (status: number): string => codes[status] ?? OTHER

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
    code: t.Optional(
      t.String({ enum: [...Object.values(codes), OTHER], description: 'The kind of refusal as one word.' }),
    ),
    request_id: t.Optional(t.String({ description: 'Finds the request in the log of the service.' })),
    invalidTopics: t.Optional(t.Nullable(t.Union([t.String(), t.Array(t.String())]))),
    required_scopes: t.Optional(t.Array(t.String(), { description: 'What the token would need.' })),
  },
  { $id: 'APIError' },
)
