import { t } from 'elysia'
import { wireTimeOr, ZERO_TIME } from '../kernel/time.ts'
import { CommitMeta } from './commit.ts'

export type Tag = typeof Tag.static
export const Tag = t.Object(
  {
    name: t.String(),
    message: t.String(),
    id: t.String({ description: 'Of the tag object, or of the commit where there is none' }),
    commit: CommitMeta,
    zipball_url: t.String(),
    tarball_url: t.String(),
  },
  { $id: 'Tag' },
)

export interface ShownTag {
  name: string
  /** What the ref holds. */
  sha: string
  /** The commit behind it. */
  commit: string
  message: string
  createdAt: Date | null
}

/** Where the files of a tag are had in one piece. */
export const archiveAddresses = (name: string, htmlUrl: string) => ({
  zipball_url: `${htmlUrl}/archive/${encodeURIComponent(name)}.zip`,
  tarball_url: `${htmlUrl}/archive/${encodeURIComponent(name)}.tar.gz`,
})

export function presentTag(
  { name, sha, commit, message, createdAt }: ShownTag,
  { apiUrl, htmlUrl }: { apiUrl: string; htmlUrl: string },
): Tag {
  return {
    name,
    message: message.trim(),
    id: sha,
    commit: { url: `${apiUrl}/git/commits/${commit}`, sha: commit, created: wireTimeOr(createdAt, ZERO_TIME) },
    ...archiveAddresses(name, htmlUrl),
  }
}
