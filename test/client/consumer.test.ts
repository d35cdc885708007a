import { expect, test } from 'bun:test'
import { resolve } from 'node:path'

const root = resolve(import.meta.dir, '../..')

/** Compiles a project with the pinned compiler. */
function compile(project: string): { exitCode: number; output: string; seconds: number } {
  const words = ['x', 'tsc', '--noEmit', '-p', project]
  const { exitCode, stdout, resourceUsage } = Bun.spawnSync([process.execPath, ...words], { cwd: root })
  // Of the processor, not of the clock: other tests run beside this one. Two cores need 1 s for each 1.8 s of it.
  return { exitCode, output: stdout.toString(), seconds: Number(resourceUsage.cpuTime.total) / 1e6 }
}

test("a stranger's program compiles, its wrong uses do not, and the compiler needs less than 10 s of two cores", () => {
  const { exitCode, output, seconds } = compile('test/client/tsconfig.json')
  expect(output).toBe('')
  expect(exitCode).toBe(0)
  expect(seconds / 1.8).toBeLessThan(10)
}, 60_000)
