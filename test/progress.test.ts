import { expect, test } from 'bun:test'
import { resolve } from 'node:path'
import { countFiles, withProgress } from './progress.ts'

test('before the results of each file stands how far the run is', async () => {
  const pieces = [
    'bun test\n\ntest/a.test.ts:\n(pass) one\n(fa',
    'il) two\n\n\u001b[0mtest/b.test.ts:\n(pass) three\ntest/a.test.ts:\n',
    'end',
  ]
  const said = (async function* () {
    for (const piece of pieces) yield new TextEncoder().encode(piece)
  })()
  let clock = 0
  const lines = await Array.fromAsync(withProgress(said, 2, () => (clock += 40_000)))
  expect(lines.join('')).toBe(
    'bun test\n\n== file 1 of 2, 0 failed, 40 s\ntest/a.test.ts:\n(pass) one\n(fail) two\n\n' +
      '== file 2 of 2, 1 failed, 1 min 20 s\n\u001b[0mtest/b.test.ts:\n(pass) three\ntest/a.test.ts:\nend',
  )
})

test('the files of a run are counted as Bun chooses them', async () => {
  const root = resolve(import.meta.dir, '..')
  expect(await countFiles(root, ['test/progress.test.ts'])).toBe(1)
  expect(await countFiles(root, ['./test/progress.test.ts', 'test/report.test.ts'])).toBe(2)
  expect(await countFiles(root, [])).toBeGreaterThan(100)
  expect(await countFiles(root, ['-t', 'name'])).toBeUndefined()
})
