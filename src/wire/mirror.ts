import { t } from 'elysia'
import type { PullMirrorRow, PushMirrorRow } from '../../db/schema/mirrors.ts'
import type { RepositoryRow } from '../../db/schema/repositories.ts'
import { formatDuration } from '../kernel/duration.ts'
import { EPOCH_TIME, wireTime, wireTimeOr } from '../kernel/time.ts'

const time = () => t.String({ format: 'date-time' })

export type PushMirror = typeof PushMirror.static
export const PushMirror = t.Object(
  {
    repo_name: t.String(),
    remote_name: t.String(),
    remote_address: t.String(),
    created: time(),
    last_update: time(),
    last_error: t.String(),
    interval: t.String(),
    sync_on_commit: t.Boolean(),
  },
  { $id: 'PushMirror' },
)

export const presentPushMirror = (row: PushMirrorRow, repoName: string): PushMirror => ({
  repo_name: repoName,
  remote_name: row.remoteName,
  remote_address: row.url,
  created: wireTime(row.createdAt),
  last_update: wireTimeOr(row.lastUpdateAt, EPOCH_TIME),
  last_error: row.lastError,
  interval: formatDuration(row.intervalSeconds),
  sync_on_commit: row.syncsOnCommit,
})

export type PullMirror = typeof PullMirror.static
export const PullMirror = t.Object(
  {
    remote_address: t.String(),
    mirror: t.Boolean({ description: 'False while a repository is copied once' }),
    status: t.Union([t.Literal('waiting'), t.Literal('failed'), t.Literal('current')], {
      description: '`waiting`: nothing has come yet; `failed`: the last try failed',
    }),
    enable_prune: t.Boolean(),
    interval: t.String(),
    failures: t.Integer({ description: 'In a row' }),
    last_error: t.String(),
    last_attempt: t.Nullable(time()),
    last_update: t.Nullable(time()),
    next_attempt: t.Nullable(time()),
  },
  { $id: 'PullMirror' },
)

const timeOrNull = (at: Date | null): string | null => (at ? wireTime(at) : null)

export function presentPullMirror(mirror: PullMirrorRow, repository: RepositoryRow): PullMirror {
  const isWaiting = repository.mirrorUpdatedAt === null
  return {
    remote_address: mirror.url,
    mirror: repository.isMirror,
    status: mirror.lastError !== '' ? 'failed' : isWaiting ? 'waiting' : 'current',
    enable_prune: mirror.prunes,
    interval: formatDuration(repository.mirrorIntervalSeconds ?? 0),
    failures: mirror.failures,
    last_error: mirror.lastError,
    last_attempt: timeOrNull(mirror.attemptedAt),
    last_update: timeOrNull(repository.mirrorUpdatedAt),
    next_attempt: timeOrNull(mirror.nextAt),
  }
}
