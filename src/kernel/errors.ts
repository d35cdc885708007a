export interface RefusedField {
  /** The wire name of the field, or `[]` for the body as a whole. */
  field: string
  message: string
}

export interface RefusalDetails {
  /** Wire: a 404 carries `errors`, null or the sentences that name what was not found. */
  errors?: string[] | null
  fields?: RefusedField[]
  headers?: Record<string, string>
  requiredScopes?: string[]
  /** Wire: what was sent as topics and cannot be one; null where they are too many. */
  invalidTopics?: string | readonly string[] | null
  /** Wire: a few refusals of the Gitea API come without `url`. */
  withoutUrl?: boolean
  /** Wire: a few refusals of the Gitea API are a line of text; who asks for JSON gets JSON all the same. */
  isText?: boolean
}

/** An error that the client gets to see. Everything else that is thrown is a bug and becomes 500. */
export class Refusal extends Error {
  readonly status: number
  readonly details: RefusalDetails

  constructor(status: number, message: string, details: RefusalDetails = {}) {
    super(message)
    this.name = 'Refusal'
    this.status = status
    this.details = details
  }
}

export const badRequest = (message: string) => new Refusal(400, message)
export const unauthorized = (message = 'token is required') => new Refusal(401, message)
export const forbidden = (message: string, details?: RefusalDetails) => new Refusal(403, message, details)
export const notFound = (message = 'not found', errors: string[] | null = null) => new Refusal(404, message, { errors })
export const conflict = (message: string) => new Refusal(409, message)
export const preconditionFailed = (message: string) => new Refusal(412, message)
export const tooLarge = (message: string) => new Refusal(413, message)
/** 422. With `field` the message takes Gitea's form `[Field]: message`. */
export const invalid = (message: string, field?: string) =>
  new Refusal(
    422,
    // `[]` is the body as a whole.
    field ? `${field === '[]' ? field : `[${internalName(field)}]`}: ${message}` : message,
    field ? { fields: [{ field, message }] } : {},
  )
export const locked = (message: string) => new Refusal(423, message)
export const tooManyRequests = (message: string, retryAfterSeconds: number) =>
  new Refusal(429, message, { headers: { 'retry-after': String(retryAfterSeconds) } })
export const unavailable = (message: string, retryAfterSeconds = 5) =>
  new Refusal(503, message, { headers: { 'retry-after': String(retryAfterSeconds) } })

/** Wire: Gitea names fields by its internal names: `default_branch` is `DefaultBranch`. */
export function internalName(field: string): string {
  return field
    .split('_')
    .map((word) => (word === 'uris' ? 'URIs' : word.charAt(0).toUpperCase() + word.slice(1)))
    .join('')
}
