// `bun run check`: what CI asks. Every step runs, also after a failure; the last line counts tests and steps.
import { resolve } from 'node:path'
import { checkConformance } from './conformance/run.ts'
import { resultLine } from './report.ts'
import { runTests } from './run.ts'

const root = resolve(import.meta.dir, '..')

const steps: readonly (readonly [string, readonly string[]])[] = [
  ['Types', ['x', 'tsc', '--noEmit']],
  ['Format and lint', ['x', 'biome', 'ci', '--colors=off', '--error-on-warnings', '.']],
]

const total = { passed: 0, failed: 0, skipped: 0 }
const failures: string[] = []

function count(name: string, result: { passed: number; failed: number; skipped?: number }): void {
  total.passed += result.passed
  total.failed += result.failed
  total.skipped += result.skipped ?? 0
  if (result.failed > 0) failures.push(`${name}: ${result.failed} failed`)
}

function announce(name: string): () => void {
  process.stdout.write(`\n== ${name}\n`)
  const startedAt = performance.now()
  return () => process.stdout.write(`   ${((performance.now() - startedAt) / 1000).toFixed(1)} s\n`)
}

for (const [name, words] of steps) {
  const done = announce(name)
  const { exitCode } = Bun.spawnSync([process.execPath, ...words], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  count(name, exitCode === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 })
  done()
}

const testsDone = announce('Tests')
const tests = await runTests([])
count('Tests', tests)
testsDone()

const conformanceDone = announce('Conformance')
count('Conformance', await checkConformance())
conformanceDone()

// Their own places are thousands of lines above, and of a long log often only the end is kept.
process.stdout.write(tests.faults.map((fault) => `\n${fault}\n`).join(''))
process.stdout.write(`\n${failures.join('\n')}\n${resultLine(total)}\n`)
process.exit(total.failed === 0 ? 0 : 1)
