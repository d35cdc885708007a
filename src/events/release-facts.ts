import type { AttachmentRow } from '../../db/schema/attachments.ts'
import type { ReleaseRow } from '../../db/schema/releases.ts'
import { assetFacts } from './asset-facts.ts'
import type { EventPayload } from './catalogue.ts'

/** A release as it is when the event happens. */
export const releaseFacts = (
  release: ReleaseRow,
  assets: readonly AttachmentRow[],
): EventPayload<'release.published'> => ({
  releaseId: release.id,
  tagName: release.tagName,
  target: release.target,
  title: release.title,
  body: release.body,
  isPrerelease: release.isPrerelease,
  authorId: release.authorId,
  createdAt: release.createdAt.toISOString(),
  publishedAt: (release.publishedAt ?? release.createdAt).toISOString(),
  assets: assetFacts(assets),
})
