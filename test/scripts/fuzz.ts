// Fuzzes a running service by its own API description for some minutes, as an administrator, and fails on any 5xx and on
// any answer that the description does not promise:
//
//   bun test/scripts/fuzz.ts --minutes 10                                  starts a service of its own
//   bun test/scripts/fuzz.ts --url http://localhost:3000 --token TOKEN     one that is there to be spoilt
//   bun test/scripts/fuzz.ts --seed N -- --include-path-regex issues       more options of schemathesis
//
// The fuzzer is schemathesis from PyPI, installed into a folder that is removed afterwards. It needs python3 with venv.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createClient } from '../harness/client.ts'
import { startShipped } from '../harness/shipped.ts'
import { makeWorld, settings } from './fuzz-world.ts'

const SCHEMATHESIS = 'schemathesis==4.32.5'

interface Fuzzing {
  url: string
  token: string
  minutes: number
  seed?: string
  /** Passed on to `st run` as they are. */
  more: readonly string[]
}

/** @returns the exit status of the fuzzer: 0 when nothing was found. */
export async function fuzz(options: Fuzzing): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'hearth-fuzz-'))
  try {
    if ((await run(['python3', '-m', 'venv', folder], folder)) !== 0) throw new Error('python3 cannot make a venv')
    const install = [join(folder, 'bin/pip'), 'install', '--quiet', '--disable-pip-version-check', SCHEMATHESIS]
    if ((await run(install, folder)) !== 0) throw new Error(`${SCHEMATHESIS} could not be installed`)
    await Bun.write(join(folder, 'schemathesis.toml'), settings(await makeWorld(options)))
    return await run([join(folder, 'bin/st'), ...fuzzerArguments(options)], folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function fuzzerArguments({ url, token, minutes, seed, more }: Fuzzing): string[] {
  return [
    ...['run', `${url}/swagger.v1.json`, '--origin', url],
    ...['--header', `Authorization: token ${token}`],
    '--continue-on-failure',
    ...['--max-time', String(Math.round(minutes * 60)), '--request-timeout', '30', '--max-redirects', '0'],
    ...['--suppress-health-check', 'all', '--warnings', 'off'],
    ...(seed === undefined ? [] : ['--seed', seed]),
    ...more,
  ]
}

/** The working folder is the throw-away one: the fuzzer keeps its examples there. */
const run = (command: string[], cwd: string): Promise<number> =>
  Bun.spawn(command, { cwd, stdio: ['ignore', 'inherit', 'inherit'] }).exited

/** A service that is thrown away afterwards, with its database and its volume. */
async function fuzzOwnService(options: Omit<Fuzzing, 'url' | 'token'>): Promise<number> {
  const { url, admin, stop } = await startShipped()
  try {
    const client = createClient({ url, credential: { basic: `${admin.name}:${admin.password}` } })
    const token = (await client.post(`/users/${admin.name}/tokens`, { name: 'fuzz', scopes: ['all'] })).string('sha1')
    return await fuzz({ ...options, url, token })
  } finally {
    await stop()
  }
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    options: {
      url: { type: 'string' },
      token: { type: 'string' },
      minutes: { type: 'string', default: '10' },
      seed: { type: 'string' },
    },
    allowPositionals: true,
  })
  const { url, token, seed } = values
  const options = { seed, minutes: Number(values.minutes), more: positionals }
  if (url !== undefined && token === undefined) throw new Error('--token of an administrator is needed')
  process.exit(
    await (url === undefined || token === undefined ? fuzzOwnService(options) : fuzz({ ...options, url, token })),
  )
}
