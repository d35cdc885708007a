import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { runProgram, serveProgram } from '../harness/program.ts'

const root = resolve(import.meta.dir, '../..')
const COMPILES = 'Compiling the program (once after each change) ...\n'

/** A checkout of its own, with the packages of this one. */
let checkout: string
let start: readonly string[]
beforeAll(() => {
  checkout = mkdtempSync(join(tmpdir(), 'hearth-start-'))
  for (const name of ['src', 'db', 'patches', 'package.json', 'bun.lock', 'tsconfig.json'])
    cpSync(join(root, name), join(checkout, name), { recursive: true })
  const packages = join(checkout, 'node_modules')
  mkdirSync(packages)
  for (const name of readdirSync(join(root, 'node_modules')))
    if (name !== '.hearth') symlinkSync(join(root, 'node_modules', name), join(packages, name))
  start = [process.execPath, join(checkout, 'src/setup/start.ts')]
})
afterAll(() => rmSync(checkout, { recursive: true, force: true }))

const programs = () => readdirSync(join(checkout, 'node_modules/.hearth'))
const say = (version: string) =>
  writeFileSync(join(checkout, 'src/version.ts'), `export const version = '${version}'\n`)

test('the program is compiled once after each change, and the one before is removed', async () => {
  say('1.26.0+first')
  expect(await runProgram(['version'], {}, { program: start })).toEqual({
    exitCode: 0,
    stdout: '1.26.0+first\n',
    stderr: COMPILES,
  })
  expect(await runProgram(['version'], {}, { program: start })).toMatchObject({ stdout: '1.26.0+first\n', stderr: '' })
  const before = programs()
  expect(before).toHaveLength(1)
  // What a process left that was killed while it compiled, and one that is at it: this one.
  mkdirSync(join(checkout, 'node_modules/.hearth/0123456789abcdef.new-99999999'))
  mkdirSync(join(checkout, `node_modules/.hearth/0123456789abcdef.new-${process.pid}`))
  say('1.26.0+second')
  // Both at once: each makes it or finds it made.
  const both = await Promise.all([1, 2].map(() => runProgram(['version'], {}, { program: start })))
  for (const run of both) expect(run).toMatchObject({ exitCode: 0, stdout: '1.26.0+second\n' })
  const [made, other] = programs().sort((one, two) => one.length - two.length)
  expect(before).not.toContain(made ?? '')
  expect(other).toBe(`0123456789abcdef.new-${process.pid}`)
  expect(programs()).toHaveLength(2)
})

test('it becomes the program: one process that serves, with the PostgreSQL of the packages', async () => {
  const settings = { DATA_DIR: join(checkout, 'data'), ADMIN_PASSWORD: 'open sesame 1' }
  const server = await serveProgram(settings, { program: start })
  expect(readlinkSync(`/proc/${server.pid}/exe`)).toStartWith(join(checkout, 'node_modules/.hearth/'))
  expect(await (await fetch(`${server.url}/api/v1/version`)).json()).toEqual({ version: '1.26.0+second' })
  server.kill('SIGTERM')
  expect(await server.exited).toBe(0)
})

test('where it cannot be compiled it says why and starts from the sources', async () => {
  rmSync(join(checkout, 'node_modules/.hearth'), { recursive: true })
  writeFileSync(join(checkout, 'node_modules/.hearth'), '')
  const { exitCode, stdout, stderr } = await runProgram(['version'], {}, { program: start })
  expect(stderr).toStartWith(`${COMPILES}EEXIST`)
  expect(stderr).toEndWith('\nIt starts from its sources, more slowly.\n')
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '1.26.0+second\n' })
})
