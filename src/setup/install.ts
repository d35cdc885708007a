// Preloaded by the scripts of package.json, so that they work from a bare clone: installs the locked dependencies when
// they are missing or belong to another lock file. Imports nothing that would have to be installed first.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'

const root = resolve(import.meta.dir, '../..')
const mark = `${root}/node_modules/.installed`

/** Changes when the dependencies, Bun or the machine do. A clone that was copied to another machine installs again. */
function fingerprint(): string {
  const hash = createHash('sha256').update(`${Bun.version} ${process.platform} ${process.arch} ${root}\n`)
  const patches = readdirSync(`${root}/patches`).map((name) => `patches/${name}`)
  for (const file of ['bun.lock', 'package.json', ...patches.sort()]) hash.update(readFileSync(`${root}/${file}`))
  return hash.digest('hex')
}

const isInstalled = (): boolean => existsSync(mark) && readFileSync(mark, 'utf8') === fingerprint()

/** Everything here goes to standard error: the output belongs to the command. */
async function install(): Promise<void> {
  process.stderr.write('Installing the locked dependencies (once) ...\n')
  const options = ['install', '--frozen-lockfile', '--no-progress']
  const installer = Bun.spawn([process.execPath, ...options], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  const [out, problems] = await Promise.all([
    new Response(installer.stdout).text(),
    new Response(installer.stderr).text(),
  ])
  if ((await installer.exited) !== 0) {
    process.stderr.write(`${out}${problems}\nThe installation failed. Is the npm registry reachable?\n`)
    process.exit(1)
  }
  writeFileSync(mark, fingerprint())
}

/** This process has looked for node_modules before it was there, and Bun remembers that: another one does the work. */
async function runAgain(): Promise<never> {
  const child = Bun.spawn([process.execPath, ...process.execArgv, ...process.argv.slice(1)], {
    stdio: ['inherit', 'inherit', 'inherit'],
  })
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal))
  process.exit(await child.exited)
}

if (!isInstalled()) {
  await install()
  await runAgain()
}
