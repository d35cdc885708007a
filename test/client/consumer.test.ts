import { expect, test } from 'bun:test'
import { resolve } from 'node:path'

const root = resolve(import.meta.dir, '../..')

/**
 * What the compiler may do for a program that uses the client. The same for the same sources wherever it runs, unlike seconds: 4.7 million
 * take it 6 s on two cores, and 10 s are the limit.
 */
const MAX_INSTANTIATIONS = 7_500_000

/** Compiles a project with the pinned compiler. */
function compile(project: string) {
  const words = ['x', 'tsc', '--noEmit', '--extendedDiagnostics', '-p', project]
  const { exitCode, stdout } = Bun.spawnSync([process.execPath, ...words], { cwd: root })
  const output = stdout.toString()
  return {
    exitCode,
    errors: output.split('\n').filter((line) => /error TS\d+/.test(line)),
    instantiations: Number(/^Instantiations: +(\d+)$/m.exec(output)?.[1]),
  }
}

test("a stranger's program compiles, its wrong uses do not, and the compiler needs less than 10 s of two cores", () => {
  const { exitCode, errors, instantiations } = compile('test/client/tsconfig.json')
  expect(errors).toEqual([])
  expect(exitCode).toBe(0)
  expect(instantiations).toBeGreaterThan(0)
  expect(instantiations).toBeLessThan(MAX_INSTANTIATIONS)
}, 180_000)
