import { t } from 'elysia'
import type { DeployKeyRow, PublicKeyRow } from '../../db/schema/credentials.ts'
import { wireTime } from '../kernel/time.ts'
import { int64 } from './fields.ts'
import { Repository } from './repository.ts'

export type DeployKey = typeof DeployKey.static
export const DeployKey = t.Object(
  {
    id: int64(),
    key_id: int64({ description: 'The same wherever the key is used' }),
    key: t.String(),
    url: t.String(),
    title: t.String(),
    fingerprint: t.String(),
    created_at: t.String({ format: 'date-time' }),
    read_only: t.Boolean(),
    repository: t.Optional(Repository),
  },
  { $id: 'DeployKey' },
)

export interface ShownDeployKey {
  deployKey: DeployKeyRow
  key: Pick<PublicKeyRow, 'key' | 'fingerprint'>
}

export const presentDeployKey = (
  { deployKey, key }: ShownDeployKey,
  { apiUrl, repository }: { apiUrl: string; repository?: Repository },
): DeployKey => ({
  id: deployKey.id,
  key_id: deployKey.keyId,
  key: key.key,
  url: `${apiUrl}/keys/${deployKey.id}`,
  title: deployKey.title,
  fingerprint: key.fingerprint,
  created_at: wireTime(deployKey.createdAt),
  read_only: deployKey.isReadOnly,
  // Wire: with what the key may do, and not who asks.
  ...(repository && {
    repository: { ...repository, permissions: { admin: false, push: !deployKey.isReadOnly, pull: true } },
  }),
})
