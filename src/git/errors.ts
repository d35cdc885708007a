/**
 * How a call of the Git interface can fail. Anything else that is thrown is a bug.
 * `busy`: too many git processes wait already; the caller answers 503. `aborted`: the caller's own signal fired.
 */
export type GitErrorKind =
  | 'not-found'
  | 'conflict'
  | 'invalid'
  | 'timeout'
  | 'too-large'
  | 'busy'
  | 'aborted'
  | 'failed'

/** What exactly was wrong, so that callers can choose their own words without reading the message. */
export type GitErrorCode =
  | 'repository'
  | 'repository-exists'
  | 'revision'
  | 'revision-syntax'
  | 'object'
  | 'object-type'
  | 'path'
  | 'path-syntax'
  | 'path-exists'
  | 'path-not-file'
  | 'path-parent-not-folder'
  | 'blob-moved'
  | 'branch-missing'
  | 'branch-exists'
  | 'head-moved'
  | 'merge-conflict'
  | 'ref-name'
  | 'ref-moved'
  | 'ref-name-conflict'
  | 'nothing-changed'
  | 'patch'
  | 'content'
  | 'limit'
  | 'busy'
  | 'timeout'
  | 'aborted'
  | 'hook'
  | 'protocol'
  | 'program'
  | 'remote'

export interface GitErrorDetails {
  /** The path in the tree or the ref that the failure is about. */
  subject?: string
  /** What git printed, for the log only: it may name folders of the server. */
  stderr?: string
}

export class GitError extends Error {
  readonly kind: GitErrorKind
  readonly code: GitErrorCode
  readonly subject: string | undefined
  readonly stderr: string | undefined

  constructor(kind: GitErrorKind, code: GitErrorCode, message: string, details: GitErrorDetails = {}) {
    super(message)
    this.name = 'GitError'
    this.kind = kind
    this.code = code
    this.subject = details.subject
    this.stderr = details.stderr
  }
}

export const isGitError = (error: unknown, kind?: GitErrorKind): error is GitError =>
  error instanceof GitError && (kind === undefined || error.kind === kind)
