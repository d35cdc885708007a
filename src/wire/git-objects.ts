import { t } from 'elysia'
import { ZERO_TIME } from '../kernel/time.ts'
import { CommitUser, presentSignature, type Signed } from './commit.ts'
import { int64 } from './fields.ts'
import { PayloadCommitVerification, presentVerification, type Verdict } from './payload-commit.ts'

export type GitEntry = typeof GitEntry.static
export const GitEntry = t.Object(
  {
    path: t.String(),
    mode: t.String(),
    type: t.String({ description: '`blob`, `tree` or `commit`' }),
    size: int64({ description: 'Bytes; 0 for folders and submodules' }),
    sha: t.String(),
    url: t.String(),
  },
  { $id: 'GitEntry' },
)

export const GitTreeResponse = t.Object(
  {
    sha: t.String(),
    url: t.String(),
    tree: t.Array(GitEntry),
    truncated: t.Boolean(),
    page: int64(),
    total_count: int64(),
  },
  { $id: 'GitTreeResponse' },
)

export const GitBlobResponse = t.Object(
  {
    content: t.Nullable(t.String()),
    encoding: t.Nullable(t.String()),
    url: t.String(),
    sha: t.String(),
    size: int64(),
  },
  { $id: 'GitBlobResponse' },
)

export const GitObject = t.Object({ type: t.String(), sha: t.String(), url: t.String() }, { $id: 'GitObject' })

export type Reference = typeof Reference.static
export const Reference = t.Object({ ref: t.String(), url: t.String(), object: GitObject }, { $id: 'Reference' })

const AnnotatedTagObject = t.Object(
  { type: t.String(), url: t.String(), sha: t.String() },
  { $id: 'AnnotatedTagObject' },
)

export type AnnotatedTag = typeof AnnotatedTag.static
export const AnnotatedTag = t.Object(
  {
    tag: t.String(),
    sha: t.String(),
    url: t.String(),
    message: t.String(),
    tagger: CommitUser,
    object: AnnotatedTagObject,
    verification: PayloadCommitVerification,
  },
  { $id: 'AnnotatedTag' },
)

interface ShownEntry {
  path: string
  kind: string
  mode: string
  sha: string
  size?: number
}

/** Wire: a submodule has no address here, since its commit is in another repository. */
export function presentEntry({ path, kind, mode, sha, size = 0 }: ShownEntry, apiUrl: string): GitEntry {
  if (kind === 'submodule') return { path, mode, type: 'commit', size: 0, sha, url: '' }
  if (kind === 'folder') return { path, mode, type: 'tree', size: 0, sha, url: `${apiUrl}/git/trees/${sha}` }
  return { path, mode, type: 'blob', size, sha, url: `${apiUrl}/git/blobs/${sha}` }
}

export const presentReference = (
  { name, sha, type }: { name: string; sha: string; type: string },
  apiUrl: string,
): Reference => ({
  ref: name,
  url: `${apiUrl}/git/${name.split('/').map(encodeURIComponent).join('/')}`,
  object: { type, sha, url: `${apiUrl}/git/${type}s/${sha}` },
})

interface ShownTag {
  sha: string
  name: string
  target: { sha: string; type: string }
  tagger?: Signed
  message: string
  signature?: { text: string; payload: string }
  verdict?: Verdict
}

export const presentTag = (tag: ShownTag, apiUrl: string): AnnotatedTag => ({
  tag: tag.name,
  sha: tag.sha,
  url: `${apiUrl}/git/tags/${tag.sha}`,
  message: tag.message,
  // Wire: its time is in UTC. Git itself once made tags without one.
  tagger: tag.tagger ? presentSignature({ ...tag.tagger, offsetMinutes: 0 }) : { name: '', email: '', date: ZERO_TIME },
  object: { type: tag.target.type, url: `${apiUrl}/git/${tag.target.type}s/${tag.target.sha}`, sha: tag.target.sha },
  verification: presentVerification(tag.signature, tag.verdict),
})
