import { afterAll, expect, test } from 'bun:test'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Build } from '../../src/features/archives/build.ts'

const folder = await mkdtemp(join(tmpdir(), 'hearth-build-'))
afterAll(() => rm(folder, { recursive: true, force: true }))

let counter = 0

/** A build whose source gives what the test says, when it says so. */
function stage(maxBytes = 1000) {
  counter += 1
  const place = join(folder, String(counter))
  const target = join(place, 'a.zip')
  const started = Promise.withResolvers<{
    controller: ReadableStreamDefaultController<Uint8Array>
    signal: AbortSignal
  }>()
  const source = async (signal: AbortSignal) =>
    new ReadableStream<Uint8Array>({
      start(controller) {
        signal.addEventListener('abort', () => controller.error(new Error('aborted')))
        started.resolve({ controller, signal })
      },
    })
  const build: Build = new Build(target, source, () => maxBytes - build.size)
  return { build, target, started: started.promise, files: () => readdir(place) }
}

const text = (value: string) => new TextEncoder().encode(value)

test('is read as it grows, by all from the beginning, and lies in its place when it is whole', async () => {
  const { build, target, started, files } = stage()
  const early = build.read()
  const { controller } = await started
  controller.enqueue(text('one '))
  const reader = (await early).getReader()
  expect((await reader.read()).value).toEqual(text('one '))
  const late = new Response(await build.read()).text()
  controller.enqueue(text('two'))
  expect((await reader.read()).value).toEqual(text('two'))
  controller.close()
  expect((await reader.read()).done).toBe(true)
  expect(await late).toBe('one two')
  await build.done
  expect(await files()).toEqual(['a.zip'])
  expect(await readFile(target, 'utf8')).toBe('one two')
})

test('is given up when the last reader has left, and not before', async () => {
  const { build, started, files } = stage()
  const [one, other] = [build.read(), build.read()]
  const { controller, signal } = await started
  controller.enqueue(text('one'))
  await (await one).cancel()
  expect([signal.aborted, build.isGivenUp]).toEqual([false, false])
  await (await other).cancel()
  expect([signal.aborted, build.isGivenUp]).toEqual([true, true])
  await build.done
  expect(await files()).toEqual([])
})

test('that cannot begin fails for those who wait', async () => {
  const broken = new Build(
    join(folder, 'x/a.zip'),
    () => Promise.reject(new Error('busy')),
    () => 10,
  )
  await expect(broken.read()).rejects.toThrow('busy')
  await broken.done
  expect(await readdir(join(folder, 'x'))).toEqual([])
})

test('that breaks off breaks its readers, and leaves nothing', async () => {
  const { build, started, files } = stage(5)
  const reading = build.read()
  const { controller } = await started
  controller.enqueue(text('12345'))
  const reader = (await reading).getReader()
  await reader.read()
  controller.enqueue(text('6'))
  await expect(reader.read()).rejects.toThrow('no room')
  await build.done
  expect(await files()).toEqual([])
})
