// Preloaded by the scripts of package.json, so that they work from a bare clone: installs the locked dependencies when
// they are missing or belong to another lock file. Imports nothing that would have to be installed first.
import { become } from './become.ts'
import { install, isInstalled } from './dependencies.ts'

if (!isInstalled()) {
  await install()
  // Bun remembers that this process found no node_modules. So a new process does the work.
  become(process.execPath, ...process.execArgv, ...process.argv.slice(1))
}
