import { type CronTask, removeOldTicks } from './cron-tasks.ts'
import { removeRetiredJobs } from './failures.ts'

const KEEP_DAYS = 30
const DAY_MS = 86_400_000

/** The queue's own periodic tasks. */
export const jobTasks: readonly CronTask[] = [
  {
    name: 'cleanup_job_queue',
    schedule: '@midnight',
    description: `Delete jobs that failed for good more than ${KEEP_DAYS} days ago, and old ticks`,
    async run({ db, clock, log }) {
      const before = new Date(clock.now().getTime() - KEEP_DAYS * DAY_MS)
      const jobs = await removeRetiredJobs(db, before)
      const ticks = await removeOldTicks(db, before)
      log.info({ jobs, ticks }, 'job queue cleaned up')
    },
  },
]
