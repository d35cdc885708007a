import type { AttachmentRow } from '../../db/schema/attachments.ts'
import type { AssetFacts } from './catalogue.ts'

/** What an event keeps of files. */
export const assetFacts = (assets: readonly AttachmentRow[]): AssetFacts[] =>
  assets.map(({ id, uuid, name, size, downloadCount, createdAt: at }) => {
    return { id, uuid, name, size, downloadCount, createdAt: at.toISOString() }
  })
