import { expect, test } from 'bun:test'
import { resolve } from 'node:path'

const root = resolve(import.meta.dir, '../..')

/** Compiles a project with the pinned compiler. */
function compile(project: string): { exitCode: number; output: string; seconds: number } {
  const started = Bun.nanoseconds()
  const { exitCode, stdout } = Bun.spawnSync([process.execPath, 'x', 'tsc', '--noEmit', '-p', project], { cwd: root })
  return { exitCode, output: stdout.toString(), seconds: (Bun.nanoseconds() - started) / 1e9 }
}

test("a stranger's program compiles, its wrong uses do not, and the compiler needs less than 10 s", () => {
  const { exitCode, output, seconds } = compile('test/client/tsconfig.json')
  expect(output).toBe('')
  expect(exitCode).toBe(0)
  expect(seconds).toBeLessThan(10)
}, 60_000)
