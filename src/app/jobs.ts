import { eventHandlers } from '../events/fan-out.ts'
import { eventTasks } from '../events/prune.ts'
import type { Reaction } from '../events/reaction.ts'
import { archiveTasks } from '../features/archives/cleanup.ts'
import { auditTasks } from '../features/audit-log/retention.ts'
import { avatarTasks } from '../features/avatars/service.ts'
import { refreshHandlers } from '../features/refs/refresh.ts'
import { refTasks, repairPushes } from '../features/refs/repair.ts'
import { orphanTask, removeOrphanFolders } from '../features/repositories/orphans.ts'
import { removalHandlers } from '../features/repositories/remove.ts'
import { totalsTask } from '../features/repositories/totals.ts'
import { userTasks } from '../features/users/tasks.ts'
import { rateLimitTasks } from '../http/rate-limit.ts'
import { type CronTask, cronHandlers } from '../jobs/cron-tasks.ts'
import type { JobHandlers } from '../jobs/handlers.ts'
import { jobTasks } from '../jobs/maintenance.ts'

/** What features do when an event has happened elsewhere. */
export const reactions: readonly Reaction[] = []

/** Everything that runs by the clock. */
export const periodicTasks: readonly CronTask[] = [
  ...jobTasks,
  ...eventTasks,
  ...refTasks,
  ...rateLimitTasks,
  ...archiveTasks,
  ...auditTasks,
  ...avatarTasks,
  ...userTasks,
  orphanTask,
  totalsTask,
]

/** What a crash has left is mended before the first request; the same runs by the clock, for other replicas that died. */
export const startRepairs: readonly CronTask['run'][] = [repairPushes, removeOrphanFolders]

/** One handler for every kind of job. */
export const jobHandlers: JobHandlers = {
  ...eventHandlers(reactions),
  ...cronHandlers(periodicTasks),
  ...refreshHandlers,
  ...removalHandlers,
}
