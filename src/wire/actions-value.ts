import { t } from 'elysia'
import type { ActionsValueRow } from '../../db/schema/actions-values.ts'
import { wireTime } from '../kernel/time.ts'
import { int64 } from './fields.ts'

export type Secret = typeof Secret.static
/** The value itself is never shown again. */
export const Secret = t.Object(
  {
    name: t.String(),
    description: t.String(),
    created_at: t.String({ format: 'date-time' }),
  },
  { $id: 'Secret' },
)

export const presentSecret = ({ name, description, createdAt }: ActionsValueRow): Secret => ({
  name,
  description,
  created_at: wireTime(createdAt),
})

export type ActionVariable = typeof ActionVariable.static
export const ActionVariable = t.Object(
  {
    owner_id: int64({ description: '0 for a variable of a repository' }),
    repo_id: int64({ description: '0 for a variable of an account' }),
    name: t.String(),
    data: t.String({ description: 'The value' }),
    description: t.String(),
  },
  { $id: 'ActionVariable' },
)

export const presentVariable = ({
  ownerId,
  repositoryId,
  name,
  value,
  description,
}: ActionsValueRow): ActionVariable => ({
  owner_id: ownerId ?? 0,
  repo_id: repositoryId ?? 0,
  name,
  data: value ?? '',
  description,
})
