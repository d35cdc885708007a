import { afterAll, beforeAll, expect, test } from 'bun:test'
import { writeSync } from 'node:fs'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GrowingFile } from '../../src/git/cli/cache/growing-file.ts'
import { StreamCache } from '../../src/git/cli/cache/stream-cache.ts'
import type { Running } from '../../src/git/cli/process/process.ts'
import { codeOf } from './stage.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hearth-stream-cache-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** A process that was quicker than anybody looked. */
const ended: Running = {
  exited: Promise.resolve({ exitCode: 0, stderr: '' }),
  stop: () => undefined,
}
const textOf = (stream: ReadableStream<Uint8Array>) => new Response(stream).text()

test('an answer over the limit is refused, also when Git ends before it can be stopped', async () => {
  const file = await open(join(folder, 'whole'), 'wx+')
  await file.write('much')
  const growing = new GrowingFile(file, ended, { judge: () => undefined, mayGrow: () => false })
  const read = growing.read({ start: 0, end: Number.POSITIVE_INFINITY }).then(textOf)
  expect(await codeOf(read)).toBe('limit')
  expect([growing.isWhole, growing.canBeRead]).toEqual([false, false])
})

test('a file that is whole and has no name yet is waited for, not made again', async () => {
  const cache = new StreamCache({ folder, maxBytes: 1000, clock: { now: () => new Date() } })
  const named = Promise.withResolvers<boolean>()
  let starts = 0
  const making = {
    expectedBytes: 0,
    start: async (stdout: number) => {
      starts += 1
      writeSync(stdout, 'bytes')
      return ended
    },
    judge: () => undefined,
    mayCache: () => named.promise,
  }
  const key = { repositoryId: 1, name: 'archive' }
  const first = await cache.open(key, making)
  expect(first && (await textOf(await first.read()))).toBe('bytes')
  const second = cache.open(key, making)
  named.resolve(true)
  expect([(await second)?.size, starts]).toEqual([5, 1])
})
