import { expect, test } from 'bun:test'
import { resolve } from 'node:path'

const root = resolve(import.meta.dir, '../..')

/**
 * What the compiler may do for a program that uses the client: the same for the same sources wherever it runs, unlike seconds. Each operation
 * costs it about 20,000, and 380 of them took 18 s on two busy cores. A client that is built ahead, without the routes' types, has to come
 * before this is raised again.
 */
const MAX_INSTANTIATIONS = 9_000_000

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

test("a stranger's program compiles, its wrong uses do not, and the compiler has no more to do than we know of", () => {
  const { exitCode, errors, instantiations } = compile('test/client/tsconfig.json')
  expect(errors).toEqual([])
  expect(exitCode).toBe(0)
  expect(instantiations).toBeGreaterThan(0)
  expect(instantiations).toBeLessThan(MAX_INSTANTIATIONS)
}, 180_000)
