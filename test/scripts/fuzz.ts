// Fuzzes a running service by its own API description for some minutes, as an administrator, and fails on any 5xx and on
// any answer that the description does not promise:
//
//   bun test/scripts/fuzz.ts --url http://localhost:3000 --token TOKEN --minutes 10 [--seed N] [-- more options of st]
//
// The fuzzer is schemathesis from PyPI, installed into a folder that is removed afterwards. It needs python3 with venv.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const SCHEMATHESIS = 'schemathesis==4.32.5'

/** What an answer must be; that wrong input is refused and right input accepted depends on more than the description. */
const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_schema_conformance',
]

/** Made-up tokens in the query would win over the real one in the header and end nearly every request with 401. */
const SETTINGS = '[generation]\nwith-security-parameters = false\n'

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
    await Bun.write(join(folder, 'schemathesis.toml'), SETTINGS)
    return await run([join(folder, 'bin/st'), ...fuzzerArguments(options)], folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function fuzzerArguments({ url, token, minutes, seed, more }: Fuzzing): string[] {
  return [
    ...['run', `${url}/swagger.v1.json`, '--origin', url],
    ...['--header', `Authorization: token ${token}`],
    ...['--checks', CHECKS.join(','), '--continue-on-failure'],
    ...['--max-time', String(Math.round(minutes * 60)), '--request-timeout', '30', '--max-redirects', '0'],
    ...['--suppress-health-check', 'all', '--warnings', 'off'],
    ...(seed === undefined ? [] : ['--seed', seed]),
    ...more,
  ]
}

/** The working folder is the throw-away one: the fuzzer keeps its examples there. */
const run = (command: string[], cwd: string): Promise<number> =>
  Bun.spawn(command, { cwd, stdio: ['ignore', 'inherit', 'inherit'] }).exited

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    options: {
      url: { type: 'string', default: 'http://localhost:3000' },
      token: { type: 'string' },
      minutes: { type: 'string', default: '10' },
      seed: { type: 'string' },
    },
    allowPositionals: true,
  })
  const { url, token, seed } = values
  if (token === undefined) throw new Error('--token of an administrator is needed')
  process.exit(await fuzz({ url, token, seed, minutes: Number(values.minutes), more: positionals }))
}
