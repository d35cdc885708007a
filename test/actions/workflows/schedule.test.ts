import { expect, test } from 'bun:test'
import { nextTime } from '../../../src/actions/workflows/schedule.ts'

const after = new Date('2026-11-22T12:30:00Z') // a Sunday
const next = (cron: string, timezone?: string) => nextTime({ cron, timezone }, after)?.toISOString()

test.each([
  ['30 5,17 * * *', '2026-11-22T17:30:00.000Z'],
  ['*/15 * * * *', '2026-11-22T12:45:00.000Z'],
  ['0 0 1 jan *', '2027-01-01T00:00:00.000Z'],
  ['0 8-10/2 * * MON-FRI', '2026-11-23T08:00:00.000Z'],
  ['0 0 29 2 *', '2028-02-29T00:00:00.000Z'],
  // The 13th or a Friday, whichever comes first.
  ['0 0 13 * 5', '2026-11-27T00:00:00.000Z'],
])('%s is due next at %s', (cron, expected) => {
  expect(next(cron)).toBe(expected)
})

test('a time zone is obeyed', () => {
  expect(next('0 0 * * *', 'Europe/Berlin')).toBe('2026-11-22T23:00:00.000Z')
  expect(next('0 0 * * *', 'Europe/Atlantis')).toBeUndefined()
})

test.each(['0 0 31 2 *', '* * * * * *', '* * * *', '@daily', '0 0 L * *', '0 0 ? * *', '61 * * * *', ''])(
  '%j is never due',
  (cron) => {
    expect(next(cron)).toBeUndefined()
  },
)
