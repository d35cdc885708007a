/** For whom a wire shape is made, and the addresses it names. */
export interface Viewer {
  readonly baseUrl: string
  /** What the path of a repository follows: `git@host:` where the port is the usual one, else `ssh://git@host:port/`. */
  readonly sshRoot: string
  readonly noreplyDomain: string
  /** Undefined for visitors. */
  readonly userId?: number
  readonly isAdmin: boolean
}
