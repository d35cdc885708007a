import { t } from 'elysia'
import type { AttachmentRow } from '../../db/schema/attachments.ts'
import { wireTime } from '../kernel/time.ts'
import { int64 } from './fields.ts'

export type Attachment = typeof Attachment.static
export const Attachment = t.Object(
  {
    id: int64(),
    name: t.String(),
    size: int64(),
    download_count: int64(),
    created_at: t.String({ format: 'date-time' }),
    uuid: t.String(),
    browser_download_url: t.String(),
  },
  { $id: 'Attachment' },
)

/** What of a file is shown. */
export type ShownAttachment = Pick<AttachmentRow, 'id' | 'uuid' | 'name' | 'size' | 'downloadCount' | 'createdAt'>

export const presentAttachment = (
  { id, uuid, name, size, downloadCount, createdAt }: ShownAttachment,
  { baseUrl }: { baseUrl: string },
): Attachment => ({
  id,
  name,
  size,
  download_count: downloadCount,
  created_at: wireTime(createdAt),
  uuid,
  browser_download_url: `${baseUrl}/attachments/${uuid}`,
})
