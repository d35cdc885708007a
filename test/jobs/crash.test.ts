import { afterAll, beforeAll, expect, test } from 'bun:test'
import { resolve } from 'node:path'
import { type FailedJob, listFailedJobs } from '../../src/jobs/failures.ts'
import { createTestDatabase, type TestDatabase } from '../harness/database.ts'
import { until } from '../harness/until.ts'
import { openQueue, type TestQueue } from './queue.ts'

let home: TestDatabase
let queue: TestQueue
const processes: WorkerProcess[] = []

beforeAll(async () => {
  home = await createTestDatabase()
  queue = openQueue(home.url)
})
afterAll(async () => {
  for (const one of processes) await one.kill()
  await queue.close()
  await home.drop()
})

interface WorkerProcess {
  lines: string[]
  /** With SIGKILL. */
  kill(): Promise<void>
}

/** Starts a process and waits until its worker is ready. */
async function startProcess(...args: string[]): Promise<WorkerProcess> {
  const program = resolve(import.meta.dir, 'worker-process.ts')
  const child = Bun.spawn([process.execPath, program, home.url, ...args], { stdout: 'pipe', stderr: 'inherit' })
  const lines: string[] = []
  void collect(child.stdout, lines)
  const one: WorkerProcess = {
    lines,
    async kill() {
      child.kill('SIGKILL')
      await child.exited
    },
  }
  processes.push(one)
  await until(() => lines.includes('ready'), 'the process is ready')
  return one
}

async function collect(stream: ReadableStream<Uint8Array>, lines: string[]): Promise<void> {
  let rest = ''
  const decoder = new TextDecoder()
  for await (const chunk of stream) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = parts.pop() ?? ''
    lines.push(...parts)
  }
}

test('the jobs of a killed process are run by another one within seconds, and the queue behind them moves on', async () => {
  const killed = await startProcess('hang')
  await queue.add(1, '', { queue: 'q' })
  await until(() => killed.lines.includes('hang 1 1'), 'the job runs')
  await queue.add(2, '', { queue: 'q' })
  const other = await startProcess('work')
  await killed.kill()
  await until(() => other.lines.includes('work 2 1'), 'the other process has both jobs')
  // The attempt that died counts: a job that kills its process must not do so for ever.
  expect(other.lines.filter((line) => line.startsWith('work'))).toEqual(['work 1 2', 'work 2 1'])
  await other.kill()
})

test('a job that died with its last attempt shows that', async () => {
  const killed = await startProcess('hang')
  await queue.add(3, '', { maxAttempts: 1 })
  await until(() => killed.lines.includes('hang 3 1'), 'the job runs')
  await killed.kill()
  const other = await startProcess('work')
  // Jobs of the test before may still wait for another attempt.
  let failed: FailedJob | undefined
  const isRetired = async () => {
    failed = (await listFailedJobs(queue.database.db)).find(({ nextAttemptAt }) => nextAttemptAt === null)
    return failed !== undefined
  }
  await until(isRetired, 'the job is freed')
  expect(failed).toMatchObject({ nextAttemptAt: null, lastError: 'the process that ran this job died' })
  await other.kill()
})

test('a living worker keeps its long job', async () => {
  const slow = await startProcess('hang')
  await queue.add(4)
  await until(() => slow.lines.includes('hang 4 1'), 'the job runs')
  const other = await startProcess('work')
  await until(async () => {
    const rows = await queue.database.sql`
      select 1 from jobs where payload @> '{"eventIds":[4]}' and leased_until > created_at + interval '4 seconds'`
    return rows.length === 1
  }, 'the lease was kept for four times as long as it lasts')
  expect(other.lines).toEqual(['ready'])
  await slow.kill()
  await until(() => other.lines.includes('work 4 2'), 'it is taken over after the kill')
  await other.kill()
})

test('each tick runs in one of two processes, and all of them in the one that is left', async () => {
  const one = await startProcess('work', '@every 1s')
  const two = await startProcess('work', '@every 1s')
  const beats = ({ lines }: WorkerProcess) => lines.filter((line) => line === 'beat').length
  const claimed = async () => (await queue.database.sql`select due_at from cron_ticks`).length
  await until(() => beats(one) + beats(two) >= 4, 'four ticks')
  await until(async () => beats(one) + beats(two) === (await claimed()), 'as many runs as ticks')
  await one.kill()
  const before = beats(two)
  await until(() => beats(two) > before, 'the other goes on', 5000)
})
