import { t } from 'elysia'
import type { ReleaseRow } from '../../db/schema/releases.ts'
import type { UserRow } from '../../db/schema/users.ts'
import { wireTime } from '../kernel/time.ts'
import { Attachment, presentAttachment, type ShownAttachment } from './attachment.ts'
import { int64 } from './fields.ts'
import { archiveAddresses } from './tag.ts'
import { presentGhost, presentUserToVisitors, User } from './user.ts'
import type { Viewer } from './viewer.ts'

export type Release = typeof Release.static
export const Release = t.Object(
  {
    id: int64(),
    tag_name: t.String(),
    target_commitish: t.String(),
    name: t.String(),
    body: t.String(),
    url: t.String(),
    html_url: t.String(),
    tarball_url: t.String(),
    zipball_url: t.String(),
    upload_url: t.String(),
    draft: t.Boolean(),
    prerelease: t.Boolean(),
    created_at: t.String({ format: 'date-time' }),
    published_at: t.String({ format: 'date-time' }),
    author: User,
    assets: t.Array(Attachment),
  },
  { $id: 'Release' },
)

export interface ShownRelease {
  release: Omit<ReleaseRow, 'repositoryId' | 'authorId' | 'updatedAt' | 'tagMessage'>
  author: UserRow | undefined
  assets: readonly ShownAttachment[]
}

/** Wire: a draft shows the time when it was made for that of its publication. */
export function presentRelease(
  { release, author, assets }: ShownRelease,
  { apiUrl, htmlUrl }: { apiUrl: string; htmlUrl: string },
  viewer: Viewer,
): Release {
  const url = `${apiUrl}/releases/${release.id}`
  return {
    id: release.id,
    tag_name: release.tagName,
    target_commitish: release.target,
    name: release.title,
    body: release.body,
    url,
    html_url: `${htmlUrl}/releases/tag/${release.tagName.split('/').map(encodeURIComponent).join('/')}`,
    ...archiveAddresses(release.tagName, htmlUrl),
    upload_url: `${url}/assets`,
    draft: release.isDraft,
    prerelease: release.isPrerelease,
    created_at: wireTime(release.createdAt),
    published_at: wireTime(release.publishedAt ?? release.createdAt),
    author: author ? presentUserToVisitors(author, viewer) : presentGhost(viewer),
    assets: assets.map((asset) => presentAttachment(asset, viewer)),
  }
}
