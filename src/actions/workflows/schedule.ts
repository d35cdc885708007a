import { Cron } from 'croner'
import type { ScheduleEntry } from './model.ts'

/**
 * The first time after `after` at which a schedule is due; undefined where there is none (31 February), the pattern has not five fields, or
 * the time zone is unknown. A day of the month and a day of the week are alternatives, as in cron.
 */
export function nextTime({ cron, timezone = 'UTC' }: ScheduleEntry, after: Date): Date | undefined {
  if (!isFiveFields(cron) || !isTimeZone(timezone)) return undefined
  try {
    return new Cron(cron, { timezone }).nextRun(after) ?? undefined
  } catch {
    // The library throws on what it cannot read. It has no other way to say so.
    return undefined
  }
}

/** The library also takes seconds, `@daily`, `L` and `?`, which GitHub does not. */
const isFiveFields = (cron: string): boolean =>
  /^[\d*,/A-Za-z-]+(?: +[\d*,/A-Za-z-]+){4}$/.test(cron) && !/\bL\b/i.test(cron)

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    // RangeError is how Intl says that it knows no such zone.
    return false
  }
}
