import { expect, test } from 'bun:test'
import { PreparedTexts } from '../../db/prepared-texts.ts'

const HOUR = 3_600_000

/** How many of so many new texts, each of them used twice, are prepared. */
function preparedOf(texts: PreparedTexts, count: number, prefix: string, now: number): number {
  const names = Array.from({ length: count }, (_, index) => `${prefix} ${index}`)
  return names.filter((text) => [texts.isPrepared(text, now), texts.isPrepared(text, now)].includes(true)).length
}

test('a text is prepared from its second use on', () => {
  const texts = new PreparedTexts()
  for (const text of ['select $1', "b like '%@%' and a = $1"])
    expect([1, 2, 3].map(() => texts.isPrepared(text, 0))).toEqual([false, true, true])
})

test('a flood of texts is prepared up to a number in an hour, and pushes out none that is in use', () => {
  const texts = new PreparedTexts()
  const isHot = () => texts.isPrepared('hot', 0)
  expect([isHot(), isHot()]).toEqual([false, true])
  let made = 0
  for (let round = 0; round < 40; round++) {
    made += preparedOf(texts, 100, `round ${round}`, 0)
    expect(isHot()).toBe(true)
  }
  expect(made).toBe(499)
  expect(preparedOf(texts, 10, 'later', HOUR)).toBe(10)
})

test.each([
  'a like $1',
  'a ILIKE $1',
  'a not ilike any($1)',
  'a similar to $1',
  'a ~ $1',
  'a !~* $1',
  "a like '%' || $1",
])('the plan of %p depends on its pattern', (text) => {
  const texts = new PreparedTexts()
  expect([1, 2, 3].map(() => texts.isPrepared(text, 0))).toEqual([false, false, false])
})
