import { eventHandlers } from '../events/fan-out.ts'
import { eventTasks } from '../events/prune.ts'
import type { Reaction } from '../events/reaction.ts'
import { tokenTasks } from '../features/access-tokens/expired.ts'
import { artifactTasks } from '../features/actions-artifacts/collect.ts'
import { abandonedTasks } from '../features/actions-runs/abandoned.ts'
import { runHandlers } from '../features/actions-runs/advance.ts'
import { activityTasks } from '../features/activity/prune.ts'
import { activityRecord } from '../features/activity/record.ts'
import { statisticsTasks } from '../features/admin/statistics.ts'
import { attachmentTasks } from '../features/attachments/collect.ts'
import { auditTasks } from '../features/audit-log/retention.ts'
import { authSourceTasks } from '../features/auth-sources/tasks.ts'
import { avatarTasks } from '../features/avatars/service.ts'
import { emailTasks } from '../features/emails/tasks.ts'
import { referenceRecord } from '../features/issue-references/record.ts'
import { lfsTasks } from '../features/lfs/garbage.ts'
import { importContent, migrationHandlers } from '../features/migrations/tasks.ts'
import { mirrorHandlers, mirrorTasks, pushOnCommit } from '../features/mirrors/tasks.ts'
import { notificationFanOut } from '../features/notifications/notify.ts'
import { passkeyTasks } from '../features/passkeys/tasks.ts'
import { recoveryHandlers } from '../features/password-recovery/service.ts'
import { recoveryTasks } from '../features/password-recovery/tasks.ts'
import { refreshHandlers } from '../features/refs/refresh.ts'
import { refTasks, repairPushes } from '../features/refs/repair.ts'
import { resyncTasks } from '../features/refs/resync.ts'
import { registrationTasks } from '../features/registration/tasks.ts'
import { removalHandlers } from '../features/repositories/remove.ts'
import { orphanTask, removeOrphanFolders } from '../features/repository-maintenance/orphans.ts'
import { repositoryTasks } from '../features/repository-maintenance/tasks.ts'
import { totalsTask } from '../features/repository-maintenance/totals.ts'
import { streamTasks } from '../features/transport/tasks.ts'
import { freedNameTasks } from '../features/users/claim-name.ts'
import { userTasks } from '../features/users/tasks.ts'
import { rateLimitTasks } from '../http/rate-limit.ts'
import { type CronTask, cronHandlers } from '../jobs/cron-tasks.ts'
import type { JobHandlers } from '../jobs/handlers.ts'
import { jobTasks } from '../jobs/maintenance.ts'
import { mailHandlers } from '../mail/send.ts'
import { oauthTasks } from '../oauth/expired.ts'
import { scheduleTasks } from '../triggers/schedules.ts'
import { keepStandingTriggers } from '../triggers/standing.ts'
import { startRunsOnEvents } from '../triggers/start-runs.ts'
import { sealStoredAddresses } from '../webhooks/address.ts'
import { hookDeliveryReaction } from '../webhooks/deliver.ts'
import { deliveryTasks } from '../webhooks/prune.ts'
import { hookHandlers } from '../webhooks/send.ts'

/** What features do when an event has happened elsewhere. */
export const reactions: readonly Reaction[] = [
  activityRecord,
  notificationFanOut,
  referenceRecord,
  hookDeliveryReaction,
  pushOnCommit,
  importContent,
  // Before runs are started: what a push brings holds for what follows it.
  keepStandingTriggers,
  startRunsOnEvents,
]

/** Everything that runs by the clock. */
export const periodicTasks: readonly CronTask[] = [
  ...jobTasks,
  ...eventTasks,
  ...refTasks,
  ...rateLimitTasks,
  ...streamTasks,
  ...auditTasks,
  ...avatarTasks,
  ...attachmentTasks,
  ...userTasks,
  ...emailTasks,
  ...tokenTasks,
  ...registrationTasks,
  ...recoveryTasks,
  ...oauthTasks,
  ...passkeyTasks,
  ...authSourceTasks,
  ...resyncTasks,
  ...repositoryTasks,
  ...freedNameTasks,
  ...statisticsTasks,
  ...activityTasks,
  ...deliveryTasks,
  ...mirrorTasks,
  ...lfsTasks,
  ...abandonedTasks,
  ...scheduleTasks,
  ...artifactTasks,
  orphanTask,
  totalsTask,
]

/** What a crash has left is repaired before the first request; the same runs by the clock, for other replicas that died. */
export const startRepairs: readonly CronTask['run'][] = [repairPushes, removeOrphanFolders, sealStoredAddresses]

/** One handler for every kind of job. */
export const jobHandlers: JobHandlers = {
  ...eventHandlers(reactions),
  ...cronHandlers(periodicTasks),
  ...mailHandlers,
  ...recoveryHandlers,
  ...refreshHandlers,
  ...removalHandlers,
  ...hookHandlers,
  ...mirrorHandlers,
  ...migrationHandlers,
  ...runHandlers,
}
