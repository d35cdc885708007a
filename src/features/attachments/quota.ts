import type { ByteQuota } from '../../access/byte-quota.ts'
import type { Config } from '../../config.ts'

export const attachmentQuota = ({ attachmentMaxOwnerBytes: maxBytes }: Config): ByteQuota => ({
  items: 'attached files',
  setting: 'ATTACHMENT_MAX_OWNER_BYTES',
  maxBytes,
  counter: 'attachmentBytes',
  status: 413,
})
