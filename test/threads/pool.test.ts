import { afterEach, expect, test } from 'bun:test'
import {
  createThreadPool,
  type ThreadPool,
  type ThreadPoolOptions,
  ThreadsBusy,
  ThreadTimeout,
} from '../../src/threads/pool.ts'

type SamplePool = ThreadPool<number | string, number>
const pools: SamplePool[] = []
afterEach(() => {
  for (const pool of pools.splice(0)) pool.stop()
})

function openPool(options: Partial<ThreadPoolOptions> = {}): SamplePool {
  const pool: SamplePool = createThreadPool({
    program: new URL('./sample-worker.ts', import.meta.url).href,
    threads: 1,
    deadlineMs: 30_000,
    maxWaiting: 100,
    maxWaitMs: 30_000,
    ...options,
  })
  pools.push(pool)
  return pool
}

test('tasks are done in the order of arrival, also by several threads', async () => {
  const pool = openPool({ threads: 2 })
  const numbers = Array.from({ length: 20 }, (_, index) => index)
  expect(await Promise.all(numbers.map((number) => pool.run(number)))).toEqual(numbers.map((number) => number * 2))
})

test('a task that overruns its deadline is ended, and the next one gets a new thread', async () => {
  const pool = openPool({ deadlineMs: 300 })
  const [endless, next] = await Promise.allSettled([pool.run('loop'), pool.run(4)])
  expect(endless).toMatchObject({ reason: expect.any(ThreadTimeout) })
  expect(next).toEqual({ status: 'fulfilled', value: 8 })
})

test.each([
  ['that throws', 'throw', 'thrown by the task'],
  ['whose thread ends by itself', 'exit', 'the thread ended by itself'],
])('a task %s fails with the reason, and the pool goes on', async (_, task, reason) => {
  const pool = openPool()
  const [failed, next] = await Promise.allSettled([pool.run(task), pool.run(5)])
  expect(failed).toMatchObject({ reason: { message: expect.stringContaining(reason) } })
  expect(next).toEqual({ status: 'fulfilled', value: 10 })
})

test('a program that does not start fails each task with the reason', async () => {
  const pool = openPool({ program: new URL('./no-such-worker.ts', import.meta.url).href })
  for (const outcome of await Promise.allSettled([pool.run(1), pool.run(2)]))
    expect(outcome).toMatchObject({ reason: { message: expect.stringContaining('no-such-worker') } })
})

test('more tasks than may wait are refused, and so are those that waited for too long', async () => {
  const pool = openPool({ maxWaiting: 2, maxWaitMs: 500 })
  expect(await pool.run(1)).toBe(2)
  void pool.run('loop').catch(() => undefined)
  const [first, second, third] = await Promise.allSettled([pool.run(2), pool.run(3), pool.run(4)])
  for (const refused of [first, second, third]) expect(refused).toMatchObject({ reason: expect.any(ThreadsBusy) })
})

test('a stopped pool refuses what runs, what waits and what comes', async () => {
  const pool = openPool()
  expect(await pool.run(1)).toBe(2)
  const outcomes = Promise.allSettled([pool.run('loop'), pool.run(2)])
  pool.stop()
  for (const refused of [...(await outcomes), ...(await Promise.allSettled([pool.run(3)]))])
    expect(refused).toMatchObject({ reason: expect.any(ThreadsBusy) })
})
