import type { CronTask } from '../jobs/cron-tasks.ts'
import { removeOldRequests } from './consent.ts'
import { removeOldDevices } from './device-store.ts'
import { removeRetiredKeys } from './keys.ts'
import { removeExpired } from './store.ts'

export const oauthTasks: readonly CronTask[] = [
  {
    name: 'delete_expired_oauth_tokens',
    schedule: '@every 1h',
    description: 'Delete authorization codes and OAuth2 tokens that have expired, and keys that no id token needs',
    async run(context) {
      const gone = await removeExpired(context.db, context.clock.now())
      const requests = await removeOldRequests(context)
      const devices = await removeOldDevices(context)
      const keys = await removeRetiredKeys(context)
      context.log.info({ ...gone, requests, devices, keys }, 'expired OAuth2 tokens deleted')
    },
  },
]
