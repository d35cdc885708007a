import { Logger } from 'graphile-worker'
import type { Log } from '../log.ts'

/**
 * The queue library's own chatter. Failed jobs are logged by us with their names, so what is left is of interest only
 * to who looks for a fault in the queue; without a log it is dropped.
 */
export function libraryLogger(log?: Log): Logger {
  return new Logger(() => (level, message) => {
    if (level === 'error' || level === 'warning') log?.debug({ source: 'graphile-worker' }, message)
  })
}
