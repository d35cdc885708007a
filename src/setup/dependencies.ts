import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fingerprint } from './fingerprint.ts'
import { writeFault } from './write-fault.ts'

const root = resolve(import.meta.dir, '../..')
const mark = `${root}/node_modules/.installed`

/** What the installed packages depend on. */
export const LOCKED = ['bun.lock', 'package.json', 'patches'] as const

/** Whether the packages are there, and those of this lock file. A clone that was copied to another machine installs again. */
export const isInstalled = (): boolean => existsSync(mark) && readFileSync(mark, 'utf8') === fingerprint(root, LOCKED)

/** Installs the locked packages. Says everything on standard error: the output belongs to the command. Ends the process when it fails. */
export async function install(): Promise<void> {
  const fault = writeFault(root)
  if (fault !== undefined) {
    process.stderr.write(`${fault}\n`)
    process.exit(1)
  }
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
  writeFileSync(mark, fingerprint(root, LOCKED))
}
