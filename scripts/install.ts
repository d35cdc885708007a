// Preloaded by the scripts of package.json, so that they work from a bare clone: installs the locked dependencies when
// they are missing or belong to another lock file. Imports nothing that would have to be installed first.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'

const root = resolve(import.meta.dir, '..')
const mark = `${root}/node_modules/.installed`

/** Changes when the dependencies, Bun or the machine do. A clone that was copied to another machine installs again. */
function fingerprint(): string {
  const hash = createHash('sha256').update(`${Bun.version} ${process.platform} ${process.arch} ${root}\n`)
  for (const file of ['bun.lock', 'package.json']) hash.update(readFileSync(`${root}/${file}`))
  return hash.digest('hex')
}

const isInstalled = (): boolean => existsSync(mark) && readFileSync(mark, 'utf8') === fingerprint()

if (!isInstalled()) {
  process.stderr.write('Installing the locked dependencies (once) ...\n')
  const { exitCode } = Bun.spawnSync([process.execPath, 'install', '--frozen-lockfile'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  })
  if (exitCode !== 0) {
    process.stderr.write('The installation failed. The npm registry must be reachable; the lines above say more.\n')
    process.exit(1)
  }
  writeFileSync(mark, fingerprint())
}
