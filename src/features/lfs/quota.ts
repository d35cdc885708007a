import type { ByteQuota } from '../../access/byte-quota.ts'
import type { Config } from '../../config.ts'

/** Wire: git-lfs stops a push at 507, and shows why. */
export const lfsQuota = ({ lfsMaxOwnerBytes: maxBytes }: Config): ByteQuota => ({
  items: 'Git LFS',
  setting: 'LFS_MAX_OWNER_BYTES',
  maxBytes,
  counter: 'lfsBytes',
  status: 507,
})
