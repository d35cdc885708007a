import { t } from 'elysia'
import type { UserRow } from '../../db/schema/users.ts'
import { ZERO_TIME } from '../kernel/time.ts'
import { int64 } from './fields.ts'
import { PayloadCommitVerification, presentVerification, type Verdict } from './payload-commit.ts'
import { presentUserToVisitors, User } from './user.ts'
import type { Viewer } from './viewer.ts'

const time = () => t.String({ format: 'date-time' })

export type CommitUser = typeof CommitUser.static
export const CommitUser = t.Object({ name: t.String(), email: t.String(), date: t.String() }, { $id: 'CommitUser' })

export type CommitMeta = typeof CommitMeta.static
export const CommitMeta = t.Object({ url: t.String(), sha: t.String(), created: time() }, { $id: 'CommitMeta' })

export const CommitStats = t.Object(
  { total: int64(), additions: int64(), deletions: int64() },
  { $id: 'CommitStats', description: 'Lines' },
)

export type CommitAffectedFiles = typeof CommitAffectedFiles.static
export const CommitAffectedFiles = t.Object(
  { filename: t.String(), status: t.String({ description: '`added`, `removed` or `modified`' }) },
  { $id: 'CommitAffectedFiles' },
)

export const RepoCommit = t.Object(
  {
    url: t.String(),
    author: CommitUser,
    committer: CommitUser,
    message: t.String(),
    tree: CommitMeta,
    verification: t.Nullable(PayloadCommitVerification),
  },
  { $id: 'RepoCommit' },
)

export type Commit = typeof Commit.static
export const Commit = t.Object(
  {
    url: t.String(),
    sha: t.String(),
    created: time(),
    html_url: t.String(),
    commit: RepoCommit,
    author: t.Nullable(User),
    committer: t.Nullable(User),
    parents: t.Array(CommitMeta),
    files: t.Nullable(t.Array(CommitAffectedFiles)),
    stats: t.Nullable(CommitStats),
  },
  { $id: 'Commit' },
)

export const Compare = t.Object({ total_commits: int64(), commits: t.Array(Commit) }, { $id: 'Compare' })

export const Note = t.Object({ message: t.String(), commit: Commit }, { $id: 'Note' })

/** Who made something, as Git keeps it. */
export interface Signed {
  name: string
  email: string
  date: Date
  /** East of UTC. */
  offsetMinutes?: number
}

export interface ShownCommit {
  sha: string
  tree: string
  parents: readonly string[]
  author: Signed
  committer: Signed
  message: string
  signature?: { text: string; payload: string }
  /** Of the signature. */
  verdict?: Verdict
  /** Left out where it was not asked for. */
  changes?: {
    additions: number
    deletions: number
    files: readonly { path: string; previousPath?: string; status: string }[]
  }
}

/** Addresses of a repository. */
export interface CommitPlace {
  apiUrl: string
  htmlUrl: string
}

export interface CommitView {
  viewer: Viewer
  /** Accounts by e-mail address in lower case. */
  accounts: ReadonlyMap<string, UserRow>
  withStats: boolean
  withFiles: boolean
  withVerification: boolean
}

export function presentCommit(commit: ShownCommit, place: CommitPlace, view: CommitView): Commit {
  const { sha, author, committer, changes } = commit
  const url = `${place.apiUrl}/git/commits/${sha}`
  const account = ({ email }: Signed): User | null => {
    const user = view.accounts.get(email.toLowerCase())
    return user ? presentUserToVisitors(user, view.viewer) : null
  }
  return {
    url,
    sha,
    created: gitTime(committer),
    html_url: `${place.htmlUrl}/commit/${sha}`,
    commit: {
      url,
      author: presentSignature(author),
      committer: presentSignature(committer),
      message: commit.message,
      tree: { url: `${place.apiUrl}/git/trees/${commit.tree}`, sha: commit.tree, created: gitTime(committer) },
      verification: view.withVerification ? presentVerification(commit.signature, commit.verdict) : null,
    },
    author: account(author),
    committer: account(committer),
    parents: presentParents(commit.parents, place.apiUrl),
    files: view.withFiles && changes ? changes.files.flatMap(presentChange) : null,
    stats: view.withStats && changes ? presentStats(changes) : null,
  }
}

export const presentSignature = (signed: Signed): CommitUser => ({
  name: signed.name,
  email: signed.email,
  date: gitTime(signed),
})

/** Wire: the time of a parent is never looked up. */
export const presentParents = (parents: readonly string[], apiUrl: string): CommitMeta[] =>
  parents.map((sha) => ({ url: `${apiUrl}/git/commits/${sha}`, sha, created: ZERO_TIME }))

/** Wire: a renamed file is one that went and one that came. */
function presentChange({ path, previousPath, status }: { path: string; previousPath?: string; status: string }) {
  if (status === 'renamed' && previousPath !== undefined)
    return [
      { filename: previousPath, status: 'removed' },
      { filename: path, status: 'added' },
    ]
  return [{ filename: path, status: FILE_STATUS.get(status) ?? 'modified' }]
}

const FILE_STATUS = new Map([
  ['added', 'added'],
  ['copied', 'added'],
  ['deleted', 'removed'],
])

const presentStats = ({ additions, deletions }: { additions: number; deletions: number }) => ({
  total: additions + deletions,
  additions,
  deletions,
})

const FIRST = Date.parse('0001-01-01T00:00:00Z')
const LAST = Date.parse('9999-12-31T00:00:00Z')

/**
 * RFC 3339. Wire: times of commits are the only ones in the zone of their author. A commit may claim any time; one outside the years
 * 1 to 9999 becomes the nearest moment within them.
 */
export function gitTime({ date, offsetMinutes = 0 }: Pick<Signed, 'date' | 'offsetMinutes'>): string {
  const offset = Math.abs(offsetMinutes) < 24 * 60 ? offsetMinutes : 0
  const instant = Math.min(Math.max(date.getTime(), FIRST + DAY), LAST - DAY)
  const local = new Date(instant + offset * 60_000).toISOString().slice(0, 19)
  if (offset === 0) return `${local}Z`
  const minutes = Math.abs(offset)
  return `${local}${offset < 0 ? '-' : '+'}${pad(Math.floor(minutes / 60))}:${pad(minutes % 60)}`
}

const DAY = 86_400_000
const pad = (value: number): string => String(value).padStart(2, '0')
