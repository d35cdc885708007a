import { t } from 'elysia'
import { wireTime } from '../kernel/time.ts'

export type WatchInfo = typeof WatchInfo.static
/** Whether somebody is notified of a repository or of an issue. */
export const WatchInfo = t.Object(
  {
    subscribed: t.Boolean(),
    ignored: t.Boolean(),
    reason: t.Null(),
    created_at: t.String({ format: 'date-time' }),
    url: t.String(),
    repository_url: t.String(),
  },
  { $id: 'WatchInfo' },
)

interface ShownWatch {
  isSubscribed: boolean
  createdAt: Date
  /** Of the subscription itself. */
  url: string
  repositoryUrl: string
}

export const presentWatchInfo = ({ isSubscribed, createdAt, url, repositoryUrl }: ShownWatch): WatchInfo => ({
  subscribed: isSubscribed,
  ignored: !isSubscribed,
  reason: null,
  created_at: wireTime(createdAt),
  url,
  repository_url: repositoryUrl,
})
