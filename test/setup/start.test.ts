import { afterAll, beforeAll, expect, test } from 'bun:test'
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { writeFault } from '../../src/setup/write-fault.ts'
import { runProgram, serveProgram } from '../harness/program.ts'
import { until } from '../harness/until.ts'

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
  // And what Bun leaves of a program where it is killed, or makes right now.
  const [left, made] = ['.0123456789abcdef-00000000.bun-build', '.fedcba9876543210-00000000.bun-build']
  for (const name of [left, made]) writeFileSync(join(checkout, name), '')
  utimesSync(join(checkout, left), new Date(0), new Date(0))
  say('1.26.0+second')
  // Both at once: each makes it or finds it made.
  const both = await Promise.all([1, 2].map(() => runProgram(['version'], {}, { program: start })))
  for (const run of both) expect(run).toMatchObject({ exitCode: 0, stdout: '1.26.0+second\n' })
  const [program, other] = programs().sort((one, two) => one.length - two.length)
  expect(before).not.toContain(program ?? '')
  expect(other).toBe(`0123456789abcdef.new-${process.pid}`)
  expect(programs()).toHaveLength(2)
  expect(readdirSync(checkout).filter((name) => name.endsWith('.bun-build'))).toEqual([made])
})

test('what editors keep beside the sources is no change', async () => {
  symlinkSync('me@host.1234:5678', join(checkout, 'src/.#main.ts'))
  writeFileSync(join(checkout, 'src/.main.ts.swp'), 'unsaved')
  expect(await runProgram(['version'], {}, { program: start })).toMatchObject({ stdout: '1.26.0+second\n', stderr: '' })
})

test('it becomes the program: one process that serves, with the PostgreSQL of the packages', async () => {
  const settings = { DATA_DIR: join(checkout, 'data'), ADMIN_PASSWORD: 'open sesame 1' }
  const server = await serveProgram(settings, { program: start })
  expect(readlinkSync(`/proc/${server.pid}/exe`)).toStartWith(join(checkout, 'node_modules/.hearth/'))
  expect(await (await fetch(`${server.url}/api/v1/version`)).json()).toEqual({ version: '1.26.0+second' })
  server.kill('SIGTERM')
  expect(await server.exited).toBe(0)
})

test('a program that cannot be run is made anew at the next start', async () => {
  const [folder = ''] = programs().filter((name) => !name.includes('.new-'))
  writeFileSync(join(checkout, 'node_modules/.hearth', folder, 'bin/hearth'), '')
  const { exitCode, stdout, stderr } = await runProgram(['version'], {}, { program: start })
  expect(stderr).toStartWith('ENOEXEC')
  expect(stderr).toContain('\nIt starts from its sources, more slowly.\n')
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '1.26.0+second\n' })
  const next = await runProgram(['version'], {}, { program: start })
  expect(next).toEqual({ exitCode: 0, stdout: '1.26.0+second\n', stderr: COMPILES })
})

test('a compiler that is killed leaves nothing, and is told as a failure', async () => {
  const outfile = join(checkout, 'built', 'hearth')
  const words = [join(checkout, 'src/setup/build.ts'), `--outfile=${outfile}`]
  const build = Bun.spawn([process.execPath, ...words], { stdio: ['ignore', 'ignore', 'pipe'] })
  const children = () => readFileSync(`/proc/${build.pid}/task/${build.pid}/children`, 'utf8').trim()
  await until(() => children() !== '', 'the compiler runs')
  process.kill(Number(children()), 'SIGKILL')
  expect(await new Response(build.stderr).text()).toContain('the compiler was ended by SIGKILL\n')
  expect(await build.exited).toBe(1)
  expect(readdirSync(join(checkout, 'built'))).toEqual([])
})

test('where it cannot be compiled it says why and starts from the sources', async () => {
  rmSync(join(checkout, 'node_modules/.hearth'), { recursive: true })
  writeFileSync(join(checkout, 'node_modules/.hearth'), '')
  const { exitCode, stdout, stderr } = await runProgram(['version'], {}, { program: start })
  expect(stderr).toStartWith(`${COMPILES}EEXIST`)
  expect(stderr).toEndWith('\nIt starts from its sources, more slowly.\n')
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '1.26.0+second\n' })
})

test('somebody who may not write to the checkout is told so, with the remedy', () => {
  const unwritable = join(checkout, 'unwritable')
  mkdirSync(unwritable)
  expect(writeFault(unwritable)).toBeUndefined()
  chmodSync(unwritable, 0o555)
  // Root may write everywhere, but where nothing is.
  const closed = process.getuid?.() === 0 ? join(unwritable, 'none') : unwritable
  expect(writeFault(closed)).toBe(
    `This user (number ${process.getuid?.()}) may not write to ${closed}. To fix it: clone it as this user, or give it to them: chown -R ${process.getuid?.()} '${closed}'`,
  )
})
