import { expect, test } from 'bun:test'
import { type Fetcher, retrying } from '../../src/client/retry.ts'

type Told = [status: number, headers?: Record<string, string>]

/** Answers in turn, the last one for ever, and counts. */
function sender(...answers: Told[]) {
  const seen: (string | undefined)[] = []
  const send: Fetcher = async (_, init) => {
    const [status, headers] = answers[Math.min(seen.length, answers.length - 1)] ?? [500]
    seen.push(init?.method)
    return new Response('', { status, headers })
  }
  return { send, seen }
}

const RULE = { retries: 3, longestWait: 60 }
const NOW = { 'retry-after': '0' }
const DATE = 'Sun, 06 Nov 1994 08:49:37 GMT'

const cases: [name: string, method: string, answers: Told[], status: number, calls: number][] = [
  ['429 whatever the method', 'POST', [[429, NOW], [201]], 201, 2],
  ['503 of a method that may be repeated', 'PUT', [[503, NOW], [503, NOW], [204]], 204, 3],
  ['503 of another only once', 'POST', [[503, NOW], [201]], 503, 1],
  ['an answer that says no time only once', 'GET', [[429], [200]], 429, 1],
  ['a refusal only once', 'GET', [[404, NOW], [200]], 404, 1],
  ['as often as it may, and then gives the last answer', 'GET', [[429, NOW]], 429, 4],
  ['at a time that has come', 'GET', [[429, { 'retry-after': DATE, date: DATE }], [200]], 200, 2],
  ['not when the wait would be too long', 'GET', [[429, { 'retry-after': '61' }], [200]], 429, 1],
]
test.each(cases)('asks for %s', async (_, method, answers, status, calls) => {
  const { send, seen } = sender(...answers)
  const answer = await retrying(send, RULE)('http://localhost/', { method })
  expect(answer.status).toBe(status)
  expect(seen).toEqual(Array(calls).fill(method))
})

test('it waits as long as it is told', async () => {
  const { send } = sender([429, { 'retry-after': '1' }], [200])
  const startedAt = performance.now()
  expect((await retrying(send, RULE)('http://localhost/')).status).toBe(200)
  expect(performance.now() - startedAt).toBeGreaterThan(990)
})

test('who gives up while it waits is heard', async () => {
  const { send, seen } = sender([429, { 'retry-after': '50' }], [200])
  const giveUp = new AbortController()
  const call = retrying(send, RULE)('http://localhost/', { signal: giveUp.signal })
  giveUp.abort(new Error('enough'))
  await expect(call).rejects.toThrow('enough')
  expect(seen.length).toBe(1)
})
