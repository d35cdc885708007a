import { t } from 'elysia'
import { ZERO_TIME } from '../kernel/time.ts'
import { CommitMeta, CommitUser, gitTime, presentParents, type ShownCommit, type Signed } from './commit.ts'
import { ContentsResponse } from './contents.ts'
import { PayloadCommitVerification, presentVerification } from './payload-commit.ts'

export type FileCommitResponse = typeof FileCommitResponse.static
export const FileCommitResponse = t.Object(
  {
    url: t.String(),
    sha: t.String(),
    created: t.String({ format: 'date-time' }),
    html_url: t.String(),
    author: CommitUser,
    committer: CommitUser,
    parents: t.Array(CommitMeta),
    message: t.String(),
    tree: CommitMeta,
  },
  { $id: 'FileCommitResponse' },
)

const made = { commit: FileCommitResponse, verification: PayloadCommitVerification }

export type FileResponse = typeof FileResponse.static
export const FileResponse = t.Object({ content: t.Nullable(ContentsResponse), ...made }, { $id: 'FileResponse' })

export type FilesResponse = typeof FilesResponse.static
export const FilesResponse = t.Object(
  { files: t.Array(t.Nullable(ContentsResponse), { description: 'null for a file that was deleted' }), ...made },
  { $id: 'FilesResponse' },
)

export type FileDeleteResponse = typeof FileDeleteResponse.static
export const FileDeleteResponse = t.Object(
  { content: t.Nullable(ContentsResponse, { description: 'Always null' }), ...made },
  { $id: 'FileDeleteResponse' },
)

/** Wire: here, other than in lists of commits, times are in UTC, and those of the commit itself are left at zero. */
export function presentFileCommit(
  commit: ShownCommit,
  place: { apiUrl: string; htmlUrl: string },
): Pick<FileResponse, 'commit' | 'verification'> {
  const { sha, tree } = commit
  const person = ({ name, email, date }: Signed) => ({ name, email, date: gitTime({ date }) })
  return {
    commit: {
      url: `${place.apiUrl}/git/commits/${sha}`,
      sha,
      created: ZERO_TIME,
      html_url: `${place.htmlUrl}/commit/${sha}`,
      author: person(commit.author),
      committer: person(commit.committer),
      parents: presentParents(commit.parents, place.apiUrl),
      message: commit.message,
      tree: { url: `${place.apiUrl}/git/trees/${tree}`, sha: tree, created: ZERO_TIME },
    },
    verification: presentVerification(commit.signature, commit.verdict),
  }
}
