import { t } from 'elysia'
import { int64 } from './fields.ts'

const text = () => t.Nullable(t.String())
const time = () => t.Optional(t.String({ format: 'date-time' }))

export const FileLinksResponse = t.Object({ self: text(), git: text(), html: text() }, { $id: 'FileLinksResponse' })

export type ContentsResponse = typeof ContentsResponse.static
export const ContentsResponse = t.Object(
  {
    name: t.String(),
    path: t.String(),
    sha: t.String(),
    last_commit_sha: t.Optional(t.String()),
    last_committer_date: time(),
    last_commit_when: t.Optional(t.String({ format: 'date-time', description: 'The same as `last_committer_date`' })),
    last_author_date: time(),
    last_commit_message: t.Optional(t.String()),
    type: t.String({ description: '`file`, `dir`, `symlink` or `submodule`' }),
    size: int64({ description: 'Bytes' }),
    encoding: text(),
    content: text(),
    target: text(),
    url: text(),
    html_url: text(),
    git_url: text(),
    download_url: text(),
    submodule_git_url: text(),
    _links: FileLinksResponse,
    lfs_oid: t.Optional(t.String()),
    lfs_size: t.Optional(int64()),
  },
  { $id: 'ContentsResponse' },
)

export type ContentsExtResponse = typeof ContentsExtResponse.static
export const ContentsExtResponse = t.Object(
  {
    file_contents: t.Optional(ContentsResponse),
    dir_contents: t.Optional(t.Array(ContentsResponse)),
  },
  { $id: 'ContentsExtResponse' },
)

export interface ShownContents {
  path: string
  name: string
  kind: 'file' | 'executable' | 'symlink' | 'folder' | 'submodule'
  sha: string
  size?: number
  /** In base64; null where it was not asked for or is too long. */
  content: string | null
  /** What a symbolic link says. It is never followed. */
  target: string | null
  submoduleUrl: string | null
  /** Of a pointer of large file storage: the id and the bytes of the file that it stands for. */
  largeFile?: { oid: string; size: number } | undefined
  lastCommit?: { sha: string; committedAt: string; authoredAt: string; message?: string }
}

export interface ContentsPlace {
  apiUrl: string
  htmlUrl: string
  /** What the client called the revision, for the address in the API. */
  ref: string
  /** `branch/main`, `tag/v1` or `commit/<id>`, for the addresses of pages. */
  webPath: string
}

const TYPES = { file: 'file', executable: 'file', symlink: 'symlink', folder: 'dir', submodule: 'submodule' } as const

export function presentContents(shown: ShownContents, place: ContentsPlace): ContentsResponse {
  const { kind, sha, lastCommit } = shown
  const path = shown.path.split('/').map(encodeURIComponent).join('/')
  const self = `${place.apiUrl}/contents/${path}?ref=${encodeURIComponent(place.ref)}`
  const isInside = kind !== 'submodule'
  const html = isInside ? `${place.htmlUrl}/src/${place.webPath}/${path}` : null
  const git = isInside ? `${place.apiUrl}/git/${kind === 'folder' ? 'trees' : 'blobs'}/${sha}` : null
  const download = isInside && kind !== 'folder' ? `${place.htmlUrl}/raw/${place.webPath}/${path}` : null
  return {
    name: shown.name,
    path: shown.path,
    sha,
    ...(lastCommit && {
      last_commit_sha: lastCommit.sha,
      last_committer_date: lastCommit.committedAt,
      // Wire: what Forgejo calls it; its clients read no contents without it.
      last_commit_when: lastCommit.committedAt,
      last_author_date: lastCommit.authoredAt,
      ...(lastCommit.message !== undefined && { last_commit_message: lastCommit.message }),
    }),
    type: TYPES[kind],
    size: shown.size ?? 0,
    encoding: shown.content === null ? null : 'base64',
    content: shown.content,
    target: shown.target,
    url: self,
    html_url: html,
    git_url: git,
    download_url: download,
    submodule_git_url: shown.submoduleUrl,
    _links: { self, git, html },
    ...(shown.largeFile && { lfs_oid: shown.largeFile.oid, lfs_size: shown.largeFile.size }),
  }
}
