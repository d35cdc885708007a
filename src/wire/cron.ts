import { t } from 'elysia'
import { wireTime, wireTimeOr, ZERO_TIME } from '../kernel/time.ts'
import { int64 } from './fields.ts'

export type Cron = typeof Cron.static
export const Cron = t.Object(
  {
    name: t.String(),
    schedule: t.String(),
    next: t.String({ format: 'date-time' }),
    prev: t.String({ format: 'date-time', description: 'Start of the last run; the zero time when there was none' }),
    exec_times: int64(),
    failed: t.Boolean({ description: 'Whether the last run failed; the log says why' }),
  },
  { $id: 'Cron' },
)

export interface ShownCron {
  name: string
  schedule: string
  next: Date
  prev: Date | null
  execTimes: number
  lastError: string | null
}

export const presentCron = ({ name, schedule, next, prev, execTimes, lastError }: ShownCron): Cron => ({
  name,
  schedule,
  next: wireTime(next),
  prev: wireTimeOr(prev, ZERO_TIME),
  exec_times: execTimes,
  // The reason may name folders and statements, which are for the log alone.
  failed: lastError !== null,
})
