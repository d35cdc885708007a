import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readReport, resultLine } from './report.ts'

const folder = mkdtempSync(join(tmpdir(), 'hearth-report-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** What a real run of these tests comes to. */
async function resultOf(body: string) {
  const report = join(folder, 'report.xml')
  rmSync(report, { force: true })
  await Bun.write(join(folder, 'one.test.ts'), `import { describe, expect, test } from 'bun:test'\n${body}`)
  const words = ['test', '--reporter=junit', `--reporter-outfile=${report}`, './one.test.ts']
  const { exitCode } = Bun.spawnSync([process.execPath, ...words], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'ignore'],
  })
  const file = Bun.file(report)
  return readReport((await file.exists()) ? await file.text() : '', exitCode)
}

test('a failed test is told with its file, its name and why', async () => {
  const { passed, failed, faults } = await resultOf(`
    describe('part', () => {
      test('well', () => undefined)
      test('a "name" of <parts>', () => { throw new Error('git ended with 1:\\nremote: <no> & "no"') })
      test('long', () => { throw new Error('line\\n'.repeat(100)) })
    })`)
  expect([passed, failed, faults.length]).toEqual([1, 2, 2])
  expect(faults[0]).toStartWith(
    '(fail) one.test.ts: a "name" of <parts>\n  Error: git ended with 1:\n  remote: <no> & "no"\n',
  )
  expect(faults[1]?.split('\n').length).toBe(42)
  expect(faults[1]).toMatch(/\.\.\. \d+ more lines above$/)
})

test('a file that does not load, and none at all, is a failure', async () => {
  expect(await resultOf("throw new Error('not loaded')")).toMatchObject({ passed: 0, failed: 1 })
  expect(readReport('', 1)).toEqual({ passed: 0, failed: 1, skipped: [], faults: [] })
})

test('what was skipped is named before the result', async () => {
  const result = await resultOf(`
    test('well', () => undefined)
    describe.skipIf(true)('without a browser', () => { test('a <page>', () => undefined) })`)
  expect(result).toMatchObject({ passed: 1, failed: 0 })
  expect(resultLine(result)).toBe('(skip) one.test.ts: a <page>\n1 passed, 0 failed')
  expect(resultLine({ ...result, skipped: [], notes: ['Not run: 3 recorded scenarios.'] })).toBe(
    'Not run: 3 recorded scenarios.\n1 passed, 0 failed',
  )
})
