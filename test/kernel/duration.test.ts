import { expect, test } from 'bun:test'
import { formatDuration, parseDuration } from '../../src/kernel/duration.ts'

test.each([
  ['0', 0],
  ['8h', 28_800],
  ['24h30m', 88_200],
  ['1.5h', 5400],
  ['1h1m1s', 3661],
  ['500ms', 0.5],
  ['-1h', -3600],
  ['+.5m', 30],
  ['', undefined],
  ['often', undefined],
  ['8', undefined],
  ['1h ', undefined],
  ['1d', undefined],
  ['h', undefined],
  ['9'.repeat(60), undefined],
])('%s is read as Go reads it', (text, seconds) => {
  expect(parseDuration(text)).toBe(seconds)
})

test.each([
  [0, '0s'],
  [59, '59s'],
  [600, '10m0s'],
  [88_200, '24h30m0s'],
])('%d seconds are written as %s', (seconds, text) => {
  expect(formatDuration(seconds)).toBe(text)
})
