import { resolve } from 'node:path'
import { messageOf } from '../src/kernel/thrown.ts'
import { compiledProgram } from '../src/setup/compiled-program.ts'
import { runTests } from './bun-tests.ts'
import { checkConformance } from './conformance/run.ts'
import type { TestResult } from './report.ts'

const root = resolve(import.meta.dir, '..')

const TYPES = ['x', 'tsc', '--noEmit']
const STYLE = ['x', 'biome', 'ci', '--colors=off', '--error-on-warnings', '.']

/** Types, style, tests and recorded exchanges. Every step runs, also after a failure. */
export async function checkEverything(): Promise<TestResult> {
  const results = [
    await step('Types', () => succeeds('Types', TYPES)),
    await step('Format and lint', () => succeeds('Format and lint', STYLE)),
    await step('Compile', async () => compiles()),
    await step('Tests', () => runTests([])),
    await step('Conformance', checkConformance),
  ]
  const sum = (number: (result: TestResult) => number) => results.reduce((total, result) => total + number(result), 0)
  return {
    passed: sum(({ passed }) => passed),
    failed: sum(({ failed }) => failed),
    skipped: results.flatMap(({ skipped }) => skipped),
    faults: results.flatMap(({ faults }) => faults),
    notes: results.flatMap(({ notes = [] }) => notes),
  }
}

async function step(name: string, work: () => Promise<TestResult>): Promise<TestResult> {
  process.stdout.write(`\n== ${name}\n`)
  const startedAt = performance.now()
  const result = await work()
  process.stdout.write(`   ${((performance.now() - startedAt) / 1000).toFixed(1)} s\n`)
  return result
}

/** Beforehand, so that no test has to wait for it, and no two compile at once. */
function compiles(): TestResult {
  const result = { passed: 0, failed: 0, skipped: [], faults: [] }
  try {
    process.stdout.write(`${compiledProgram()}\n`)
    return { ...result, passed: 1 }
  } catch (error) {
    return { ...result, failed: 1, faults: [`(fail) Compile\n${messageOf(error)}`] }
  }
}

/** A command that counts as one test. */
async function succeeds(name: string, words: readonly string[]): Promise<TestResult> {
  const command = Bun.spawn([process.execPath, ...words], { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
  return (await command.exited) === 0
    ? { passed: 1, failed: 0, skipped: [], faults: [] }
    : { passed: 0, failed: 1, skipped: [], faults: [`(fail) ${name}`] }
}
