import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Changes when Bun, the machine's kind or the place of the checkout does, and when anything in these files and folders
 * does. Paths are below root. Folders count with everything in them, except names that begin with a dot, which belong to editors.
 */
export function fingerprint(root: string, places: readonly string[]): string {
  const hash = createHash('sha256').update(`${Bun.version} ${process.platform} ${process.arch} ${root}\n`)
  for (const path of places.flatMap((place) => filesBelow(root, place))) {
    const content = readFileSync(join(root, path))
    // With its length no two sets of files read the same.
    hash.update(`${path} ${content.byteLength}\n`).update(content)
  }
  return hash.digest('hex')
}

function filesBelow(root: string, place: string): string[] {
  if (statSync(join(root, place)).isFile()) return [place]
  return readdirSync(join(root, place), { withFileTypes: true })
    .filter((entry) => !entry.name.startsWith('.') && (entry.isFile() || entry.isDirectory()))
    .map(({ name }) => name)
    .sort()
    .flatMap((name) => filesBelow(root, `${place}/${name}`))
}
