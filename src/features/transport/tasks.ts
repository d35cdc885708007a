import type { CronTask } from '../../jobs/cron-tasks.ts'

export const streamTasks: readonly CronTask[] = [
  {
    name: 'git_cache_cleanup',
    schedule: '@hourly',
    description: 'Remove cached packs, archives and large files that nobody has asked for in a day',
    run: async ({ git, log }) => {
      const removed = await git.cleanStreams()
      if (removed > 0) log.info({ removed }, 'cached files removed')
    },
  },
]
