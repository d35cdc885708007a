import { Cron } from 'croner'

/** When a periodic task is due. Due times depend on the schedule alone, so that all replicas agree on them. */
export interface Schedule {
  /** The first due time after `after`. */
  next(after: Date): Date
  /** A pattern for the timer: it fires at every due time, and for intervals more often. */
  pattern: string
}

const NAMED: ReadonlyMap<string, string> = new Map([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
])

/**
 * Reads the family's spelling: `@midnight` and its like, `@every 1h30m`, or five or six fields of cron, all in UTC.
 * Throws on anything else, and on an interval below a second.
 */
export function parseSchedule(text: string): Schedule {
  const interval = /^@every (?=\d)(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/.exec(text)
  if (interval !== null) {
    const [hours, minutes, seconds] = interval.slice(1).map((part) => Number(part ?? 0))
    return every((hours ?? 0) * 3600 + (minutes ?? 0) * 60 + (seconds ?? 0))
  }
  if (text.startsWith('@') && !NAMED.has(text)) throw new Error(`unknown schedule: ${text}`)
  return byPattern(NAMED.get(text) ?? text)
}

/** Counted from the epoch and not from the start of the process: then a restart moves no due time. */
function every(seconds: number): Schedule {
  if (seconds < 1) throw new Error('an interval is a second at least')
  const interval = seconds * 1000
  return {
    next: (after) => new Date((Math.floor(after.getTime() / interval) + 1) * interval),
    pattern: seconds % 3600 === 0 ? '0 0 * * * *' : seconds % 60 === 0 ? '0 * * * * *' : '* * * * * *',
  }
}

function byPattern(pattern: string): Schedule {
  const cron = new Cron(pattern, { timezone: 'UTC' })
  return {
    next(after) {
      const due = cron.nextRun(after)
      if (due === null) throw new Error(`schedule ${pattern} is never due`)
      return due
    },
    pattern,
  }
}
