import type { SessionRow } from '../../db/schema/sessions.ts'
import type { UserRow } from '../../db/schema/users.ts'
import type { RequestOrigin } from './origin.ts'

/** The running job that a token was made for. */
export interface JobCredential {
  readonly taskId: number
  readonly repositoryId: number
  /** As its workflow says; null where it says nothing. */
  readonly permissions: Readonly<Record<string, 'none' | 'read' | 'write'>> | null
}

/** Who a request acts as, how that was shown, and what limits the credential carries. */
export interface Actor {
  /** The account whose rights count: under sudo the other user, not the administrator. */
  readonly user: UserRow
  /** The administrator behind a sudo request. */
  readonly sudoer?: UserRow
  /** `link`: one that was mailed to the person. `provider`: a sign-in elsewhere. */
  readonly method: 'password' | 'token' | 'oauth' | 'session' | 'key' | 'link' | 'provider' | 'job'
  /** Normalised scope words; undefined where no scope applies (password, session, key). */
  readonly scopes?: readonly string[]
  /** Which claims an OAuth token gives: the words of OpenID Connect among its scopes. */
  readonly claimScopes?: readonly string[]
  /** For OAuth the grant, since its tokens come and go; for a job the task. */
  readonly tokenId?: number
  /** Of the method `session`. */
  readonly session?: SessionRow
  /** Set when the token expires. Every answer says when. */
  readonly tokenExpiresAt?: Date
  /** Set when the token reaches only these repositories. */
  readonly repositoryIds?: readonly number[]
  /** Of the method `job`. */
  readonly job?: JobCredential
  /** A key of a repository came, and nobody's: it reads and pushes in the name of the repository's owner, and changes nothing else. */
  readonly isDeployKey?: boolean
  /** Decided by the gate for the route: only public things may be seen. */
  readonly publicOnly: boolean
  /** Absent for an actor that no request stands behind. */
  readonly origin?: RequestOrigin
}
