import { t } from 'elysia'
import { int64 } from './fields.ts'

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
