import { Cron } from 'croner'

/** When a periodic task is due. Due times depend on the schedule alone, so that all replicas agree on them. */
export interface Schedule {
  /** The first due time after `after`. */
  next(after: Date): Date
  /** The last due time up to and with `at`. */
  latest(at: Date): Date
  /** A pattern for the timer: it fires at every due time, and for intervals more often. */
  pattern: string
}

const DAY = 86_400
const BACK_SECONDS = [1, 10, 60, 600, 3600, DAY / 4, DAY, 7 * DAY, 31 * DAY, 366 * DAY, 3660 * DAY]

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
 * Reads the spelling of Gitea's settings: `@midnight` and its like, `@every 1h30m`, or five or six fields of cron, all in UTC.
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
    latest: (at) => new Date(Math.floor(at.getTime() / interval) * interval),
    pattern: seconds % 3600 === 0 ? '0 0 * * * *' : seconds % 60 === 0 ? '0 * * * * *' : '* * * * * *',
  }
}

function byPattern(pattern: string): Schedule {
  const cron = new Cron(pattern, { timezone: 'UTC' })
  const next = (after: Date) => {
    const due = cron.nextRun(after)
    if (due === null) throw new Error(`schedule ${pattern} is never due`)
    return due
  }
  // croner looks forward only: from far enough back that something was due, but not so far that much was.
  const latest = (at: Date) => {
    const start = BACK_SECONDS.map((seconds) => new Date(at.getTime() - seconds * 1000)).find(
      (from) => next(from) <= at,
    )
    if (start === undefined) throw new Error(`schedule ${pattern} was not due for ten years`)
    let due = next(start)
    for (let later = next(due); later <= at; later = next(due)) due = later
    return due
  }
  return { next, latest, pattern }
}
