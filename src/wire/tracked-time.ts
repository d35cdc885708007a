import { t } from 'elysia'
import type { TrackedTimeRow } from '../../db/schema/tracked-times.ts'
import { wireTime } from '../kernel/time.ts'
import { int64 } from './fields.ts'
import { Issue } from './issue.ts'

export type TrackedTime = typeof TrackedTime.static
export const TrackedTime = t.Object(
  {
    id: int64(),
    created: t.String({ format: 'date-time' }),
    time: int64({ description: 'Seconds' }),
    user_id: int64(),
    user_name: t.String(),
    issue_id: int64(),
    issue: Issue,
  },
  { $id: 'TrackedTime' },
)

export interface ShownTime {
  time: TrackedTimeRow
  /** Undefined where the account is gone. */
  userName: string | undefined
}

export const presentTrackedTime = ({ time, userName }: ShownTime, issue: Issue): TrackedTime => ({
  id: time.id,
  created: wireTime(time.createdAt),
  time: time.seconds,
  // Wire: what an account that was deleted did belongs to the user Ghost with the number -1.
  user_id: time.userId ?? -1,
  user_name: userName ?? 'Ghost',
  issue_id: time.issueId,
  issue,
})

export type StopWatch = typeof StopWatch.static
export const StopWatch = t.Object(
  {
    created: t.String({ format: 'date-time' }),
    seconds: int64(),
    duration: t.String({ description: 'Hours and minutes in words, such as `1 hour 5 minutes`' }),
    issue_index: int64(),
    issue_title: t.String(),
    repo_owner_name: t.String(),
    repo_name: t.String(),
  },
  { $id: 'StopWatch' },
)

export interface ShownStopwatch {
  startedAt: Date
  issue: { number: number; title: string }
  repository: { name: string; ownerName: string }
}

export function presentStopwatch({ startedAt, issue, repository }: ShownStopwatch, now: Date): StopWatch {
  const seconds = secondsBetween(startedAt, now)
  return {
    created: wireTime(startedAt),
    seconds,
    duration: inWords(seconds),
    issue_index: issue.number,
    issue_title: issue.title,
    repo_owner_name: repository.ownerName,
    repo_name: repository.name,
  }
}

/** Whole seconds; a clock that was set back makes no negative ones. */
export const secondsBetween = (from: Date, to: Date): number =>
  Math.max(0, Math.floor((to.getTime() - from.getTime()) / 1000))

/** Hours and minutes. Wire: empty below a minute. */
export function inWords(seconds: number): string {
  const parts: [number, string][] = [
    [Math.floor(seconds / 3600), 'hour'],
    [Math.floor(seconds / 60) % 60, 'minute'],
  ]
  return parts
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}${count === 1 ? '' : 's'}`)
    .join(' ')
}
