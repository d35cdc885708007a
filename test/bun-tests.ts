import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { startKeeper } from './harness/database.ts'
import { hasChromium, NO_CHROMIUM } from './harness/find-chromium.ts'
import { countFiles, withProgress } from './progress.ts'
import { readReport, type TestResult } from './report.ts'

const root = resolve(import.meta.dir, '..')

/**
 * For tests and for what runs before them: real git and a whole program on two busy cores take their time. The preloaded
 * default holds for the first file of a process only.
 */
const TIMEOUT_MS = 60_000

/** Runs `bun test` with these arguments, with one throw-away PostgreSQL for all its processes; its output passes through. */
export async function runTests(words: readonly string[]): Promise<TestResult> {
  // The temporary folder of all tests, so that nothing stays of one that was killed. PostgreSQL's user has to pass through.
  const folder = mkdtempSync(join(tmpdir(), 'hearth-run-'))
  chmodSync(folder, 0o711)
  const report = join(folder, 'report.xml')
  const keeper = await startKeeper()
  try {
    // One more than there are processors: many files wait, for leases that end or clients that are slow.
    const jobs = Math.max(3, Math.min(availableParallelism() + 1, 8))
    const options = [
      `--timeout=${TIMEOUT_MS}`,
      `--parallel=${jobs}`,
      '--reporter=junit',
      `--reporter-outfile=${report}`,
    ]
    const tests = Bun.spawn([process.execPath, 'test', ...options, ...words], {
      cwd: root,
      env: {
        ...process.env,
        ...(process.stderr.isTTY ? { FORCE_COLOR: '1' } : {}),
        HEARTH_TEST_POSTGRES: keeper.url,
        TMPDIR: folder,
      },
      // Bun tells the results on its standard error.
      stdio: ['ignore', 'inherit', 'pipe'],
    })
    for await (const line of withProgress(tests.stderr, await countFiles(root, words))) process.stderr.write(line)
    const exitCode = await tests.exited
    const written = Bun.file(report)
    const result = readReport((await written.exists()) ? await written.text() : '', exitCode)
    return { ...result, notes: hasChromium || result.skipped.length === 0 ? [] : [NO_CHROMIUM] }
  } finally {
    await keeper.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
