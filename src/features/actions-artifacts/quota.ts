import type { ByteQuota } from '../../access/byte-quota.ts'
import type { Config } from '../../config.ts'

export const artifactQuota = ({ actionsArtifactMaxOwnerBytes: maxBytes }: Config): ByteQuota => ({
  items: 'artifacts',
  setting: 'ACTIONS_ARTIFACT_MAX_OWNER_BYTES',
  maxBytes,
  counter: 'artifactBytes',
  status: 413,
})
