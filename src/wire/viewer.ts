/** For whom a wire shape is made, and the addresses it names. */
export interface Viewer {
  readonly baseUrl: string
  /** Without a trailing slash: `ssh://git@host:port`, or `git@host:` form where the port is the usual one. */
  readonly sshRoot: string
  readonly noreplyDomain: string
  /** Undefined for visitors. */
  readonly userId?: number
  readonly isAdmin: boolean
}
