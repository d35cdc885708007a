import { afterAll, beforeAll, expect, test } from 'bun:test'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { waitForDatabase } from '../../src/cli/wait-for-database.ts'
import { errorCode } from '../../src/kernel/thrown.ts'
import { createLog } from '../../src/log.ts'
import { findServer } from '../../src/postgres/server-file.ts'
import { compiledProgram } from '../../src/setup/compiled-program.ts'
import { layCableToDatabase } from '../harness/cable.ts'
import { createClient } from '../harness/client.ts'
import { createBareDatabase } from '../harness/database.ts'
import { runProgram, serveProgram } from '../harness/program.ts'
import { until } from '../harness/until.ts'

/** Nobody listens on the first port. */
const NOWHERE = 'postgres://nobody@127.0.0.1:1/none'

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
  const first = await serveProgram({ ...settings, LOG_FORMAT: 'auto' })
  await until(() => first.errors().includes('git clone'), 'it says what to do next')
  first.kill('SIGTERM')
  expect(await first.exited).toBe(0)
  password = /Password +([0-9a-f]{24})/.exec(first.errors())?.[1] ?? ''
  expect(password).not.toBe('')
  expect(first.errors()).toContain(`curl -u 'admin:${password}'`)
  // The log, which may be kept by others, has none of it.
  expect(first.output()).not.toContain(password)
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
  expect(second.errors()).toBe('')
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

test('with LOG_FORMAT=json the first start says it in one line', async () => {
  const database = await createBareDatabase()
  const first = await serveProgram({ DATABASE_URL: database.url, DATA_DIR: join(folder, 'json') })
  await until(() => first.errors().includes('\n'), 'the line is there')
  first.kill('SIGTERM')
  expect(await first.exited).toBe(0)
  expect(JSON.parse(first.errors())).toEqual({
    level: 30,
    time: expect.stringMatching(/^\d{4}-.*Z$/),
    url: first.url,
    username: 'admin',
    password: expect.stringMatching(/^[0-9a-f]{24}$/),
    msg: 'the first administrator is made',
  })
  await database.drop()
})

test('with ADMIN_PASSWORD the commands can be pasted as they are: curl asks for it', async () => {
  const database = await createBareDatabase()
  const ADMIN_PASSWORD = 'open sesame 1'
  const first = await serveProgram({
    ...{ DATABASE_URL: database.url, DATA_DIR: join(folder, 'own'), ADMIN_PASSWORD, LOG_FORMAT: 'auto' },
  })
  await until(() => first.errors().includes('git clone'), 'it says what to do next')
  first.kill('SIGTERM')
  expect(await first.exited).toBe(0)
  expect(first.errors()).toContain('Create an access token and a repository, and clone it; curl asks for the password:')
  expect(first.errors()).toContain("\n  curl -u admin -H 'content-type: application/json' \\\n")
  expect(first.errors()).not.toContain('$')
  expect(first.errors()).not.toContain(ADMIN_PASSWORD)
  await database.drop()
})

/** Starts the program where it may take long until it listens. */
function beginServing(name: string, DATABASE_URL: string) {
  const log = join(folder, `${name}.log`)
  writeFileSync(log, '')
  const program = Bun.spawn([compiledProgram()], {
    env: { PATH: process.env.PATH ?? '', PORT: '0', DATABASE_URL, DATA_DIR: join(folder, name) },
    stdio: ['ignore', openSync(log, 'a'), 'ignore'],
  })
  return { program, said: () => readFileSync(log, 'utf8') }
}
const WAITS = 'the database does not answer; waiting for it, at most 60 s'

test('a database that is away at the start is waited for, with a line', async () => {
  const database = await createBareDatabase()
  const { cable, url } = await layCableToDatabase(database.url)
  cable.cut()
  const { program, said } = beginServing('away', url)
  await until(() => said().includes(WAITS), 'it waits')
  cable.reconnect()
  await until(() => said().includes('"listening"'), 'it listens', 55_000)
  expect(said().split(WAITS)).toHaveLength(2)
  program.kill('SIGTERM')
  expect(await program.exited).toBe(0)
  await cable.close()
  await database.drop()
})

test('whoever stops it while it waits does not wait too', async () => {
  const { program, said } = beginServing('stopped', NOWHERE)
  await until(() => said().includes(WAITS), 'it waits')
  program.kill('SIGTERM')
  expect(await program.exited).toBe(0)
})

test('after the time for it, and where waiting does not help, the fault is told', async () => {
  const log = createLog({ logLevel: 'silent', logFormat: 'json' })
  const { signal } = new AbortController()
  expect(errorCode(await waitForDatabase({ url: NOWHERE, log, signal, waitMs: 0 }).catch((error) => error))).toBe(
    'ECONNREFUSED',
  )
  const database = await createBareDatabase()
  const url = new URL(database.url)
  url.pathname = '/no-such-database'
  expect(errorCode(await waitForDatabase({ url: url.href, log, signal }).catch((error) => error))).toBe('3D000')
  await database.drop()
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
