import { afterAll, beforeAll, expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findServer } from '../../src/postgres/server-file.ts'
import { createClient } from '../harness/client.ts'
import { runProgram, serveProgram } from '../harness/program.ts'
import { until } from '../harness/until.ts'

let folder: string
let settings: Record<string, string>
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'hearth-serve-'))
  chmodSync(folder, 0o711)
  settings = { DATA_DIR: join(folder, 'data') }
})
afterAll(() => {
  const left = server()
  if (left !== undefined) process.kill(left.pid, 'SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

const server = () => findServer(join(folder, 'data', 'postgres', 'data'))

let password = ''

test('the first start makes an administrator, whose password it shows, and stops cleanly', async () => {
  const first = await serveProgram(settings)
  first.kill('SIGTERM')
  expect(await first.exited).toBe(0)
  password = /Password +([0-9a-f]{24})/.exec(first.output())?.[1] ?? ''
  expect(password).not.toBe('')
  expect(first.output()).toContain(`curl -u 'admin:${password}'`)
  expect(server()).toBeUndefined()
})

test('the second start shows none, finds everything again, and shares its database with commands', async () => {
  const second = await serveProgram(settings)
  const admin = createClient({ url: second.url, credential: { basic: `admin:${password}` } })
  expect((await admin.get('/user')).string('login')).toBe('admin')
  expect((await runProgram(['user', 'list'], settings)).stdout).toStartWith('1\tadmin\t')
  const doctor = await runProgram(['doctor'], settings)
  expect(doctor.stdout).toEndWith('\nAll is well.\n')
  // The commands have ended and left the server alone.
  expect((await admin.get('/user')).status).toBe(200)
  // As Ctrl-C under `bun run` does: from the terminal, and passed on by the runner.
  second.kill('SIGINT')
  second.kill('SIGINT')
  expect(await second.exited).toBe(0)
  expect(second.output()).not.toContain('shown only now')
  expect(server()).toBeUndefined()
})

test('after kill -9 the next start takes over what was left', async () => {
  const killed = await serveProgram(settings)
  killed.kill('SIGKILL')
  await killed.exited
  expect(server()?.isReady).toBe(true)
  const next = await serveProgram(settings)
  const admin = createClient({ url: next.url, credential: { basic: `admin:${password}` } })
  expect((await admin.get('/user')).status).toBe(200)
  next.kill('SIGTERM')
  expect(await next.exited).toBe(0)
  expect(server()).toBeUndefined()
})

/** Goes on when it is told to, by files beside it. */
const SLOW_GIT = `#!/bin/sh
here=$(dirname "$0")
touch "$here/asked"
while [ ! -e "$here/go-on" ]; do sleep 0.02; done
exec "$here/real-git" "$@"
`

test('what comes before all is built waits for it, and what no route shall see is refused at once', async () => {
  const bin = join(folder, 'bin')
  const [asked, goOn] = [join(bin, 'asked'), join(bin, 'go-on')]
  mkdirSync(bin)
  symlinkSync(Bun.which('git') ?? '', join(bin, 'real-git'))
  writeFileSync(join(bin, 'git'), SLOW_GIT, { mode: 0o755 })
  const PORT = String(freePort())
  const starting = serveProgram({ ...settings, PORT, PATH: `${bin}:${process.env.PATH}` })
  try {
    await until(() => existsSync(asked), 'git is asked')
    const waiting = fetch(`http://127.0.0.1:${PORT}/api/v1/version`)
    const refused = await fetch(`http://127.0.0.1:${PORT}/${'a'.repeat(10_000)}`)
    expect(refused.status).toBe(414)
    expect(await refused.json()).toMatchObject({ code: 'uri_too_long', url: `http://localhost:${PORT}/api/swagger` })
    writeFileSync(goOn, '')
    expect((await waiting).status).toBe(200)
  } finally {
    writeFileSync(goOn, '')
    const started = await starting
    started.kill('SIGTERM')
    expect(await started.exited).toBe(0)
  }
})

function freePort(): number {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } })
  listener.stop(true)
  return listener.port
}
