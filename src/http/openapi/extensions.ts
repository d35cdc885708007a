/** The gates of http/gate.ts. What each can answer stands in gates.ts. */
export type GateKind =
  | 'open'
  | 'login'
  | 'password'
  | 'admin'
  | 'adminOf'
  | 'readUser'
  | 'readOrg'
  | 'changeOrg'
  | 'team'
  | 'readRepo'
  | 'changeRepo'
  | 'readIssue'
  | 'changeIssue'

/**
 * What a route may say about itself in `detail` beyond OpenAPI's own words. The pass over the document reads these keys
 * and takes them out again.
 */
export interface RouteNotes {
  /** Which gate guards the route. Set by the gate's macro, never by hand. */
  'x-gate'?: GateKind
  /** Set by the gate's macro as well: the route needs a signed-in caller though its gate lets anybody read. */
  'x-login'?: boolean
  /** Set by the gate's macro: a sentence that says who may pass. */
  'x-audience'?: string
  /** Set by the gate's macro: what the scopes of a token must reach, such as `issue`. */
  'x-areas'?: readonly string[]
  /** Statuses of refusals by the route's own rules, beyond those of its gate: `[409, 423]`. */
  'x-refuses'?: readonly number[]
  /** Statuses whose refusals by the route itself are plain text instead of JSON. */
  'x-refuses-as-text'?: readonly number[]
  /** The headers of a list: `links` has `Link` and `x-total-count`, `total` only the count, unless it is walked. */
  'x-list'?: 'links' | 'total'
  /** A `Link` names the address at which the very same bytes stay. */
  'x-pinned'?: boolean
  /** Media type of the answer where it is not JSON; a list when the caller chooses. */
  'x-produces'?: string | readonly string[]
  /** Media type of the body where it is not JSON. */
  'x-consumes'?: string | readonly string[]
  /** Elysia wants one name per position of a path; this maps ours to those of the Gitea API: `{ ref: 'sha', '*': 'filepath' }`. */
  'x-parameters'?: Readonly<Record<string, string>>
  /** Further operations of the Gitea API that the same route serves, chosen by a suffix of its last parameter. */
  'x-variants'?: readonly RouteVariant[]
}

export interface RouteVariant {
  /** Appended to the path: `.{diffType}`. */
  suffix: string
  /** Values of the suffix's parameter. */
  values: readonly string[]
  operationId: string
  summary: string
  produces: string
}

declare module 'elysia' {
  interface DocumentDecoration extends RouteNotes {}
}
