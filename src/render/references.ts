/** Names in a text that may mean something on this server. Repositories and users are in lower case. */
export interface WantedReferences {
  users: string[]
  issues: { owner: string; repo: string; index: number }[]
  commits: { owner: string; repo: string; sha: string }[]
}

/** Which of them exist and may be seen by the reader. Plain data: it is posted to the rendering thread. */
export interface KnownReferences {
  /** Name as the user writes it, by lower case name. */
  users: ReadonlyMap<string, string>
  /** By `issueKey`. */
  issues: ReadonlyMap<string, { isPull: boolean }>
  /** Full sha by `commitKey`. */
  commits: ReadonlyMap<string, string>
}

/** Looks up everything that one document names: one query per kind, none for a kind that is not wanted. */
export interface References {
  lookUp(wanted: WantedReferences): Promise<KnownReferences>
}

export const issueKey = (owner: string, repo: string, index: number): string =>
  `${owner}/${repo}#${index}`.toLowerCase()
export const commitKey = (owner: string, repo: string, sha: string): string => `${owner}/${repo}@${sha}`.toLowerCase()

export const NO_REFERENCES: KnownReferences = { users: new Map(), issues: new Map(), commits: new Map() }
