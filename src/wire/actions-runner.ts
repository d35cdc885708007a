import { t } from 'elysia'
import type { ActionsRunnerRow } from '../../db/schema/actions.ts'
import { int64 } from './fields.ts'

const ActionRunnerLabel = t.Object(
  { id: int64({ description: 'Its place in the list, from 0' }), name: t.String(), type: t.String() },
  { $id: 'ActionRunnerLabel' },
)

export type ActionRunner = typeof ActionRunner.static
export const ActionRunner = t.Object(
  {
    id: int64(),
    name: t.String(),
    status: t.String({ description: '`online` while it asks for work, else `offline`' }),
    busy: t.Boolean({ description: 'A job is at work on it' }),
    disabled: t.Boolean({ description: 'It gets no more jobs' }),
    ephemeral: t.Boolean({ description: 'It is gone after its first job' }),
    labels: t.Array(ActionRunnerLabel),
  },
  { $id: 'ActionRunner' },
)

export const ActionRunnersResponse = t.Object(
  { runners: t.Array(ActionRunner), total_count: int64() },
  { $id: 'ActionRunnersResponse' },
)

export interface ShownRunner {
  runner: ActionsRunnerRow
  isBusy: boolean
  isOnline: boolean
}

export const presentRunner = ({ runner, isBusy, isOnline }: ShownRunner): ActionRunner => ({
  id: runner.id,
  name: runner.name,
  status: isOnline ? 'online' : 'offline',
  busy: isBusy,
  disabled: runner.isDisabled,
  ephemeral: runner.isEphemeral,
  labels: runner.labels.map((name, id) => ({ id, name, type: 'custom' })),
})
