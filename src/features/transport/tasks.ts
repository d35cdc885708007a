import type { CronTask } from '../../jobs/cron-tasks.ts'

export const packTasks: readonly CronTask[] = [
  {
    name: 'pack_cache_cleanup',
    schedule: '@hourly',
    description: 'Remove packs kept for clones that nobody has asked for in a day',
    run: async ({ git, log }) => {
      const removed = await git.cleanPacks()
      if (removed > 0) log.info({ removed }, 'kept packs removed')
    },
  },
]
