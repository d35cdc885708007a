import { readdir, readlink } from 'node:fs/promises'

/** Packs that this process, which is the service, has open below a folder, or in one that is named so. */
export async function openPacks(folder: string): Promise<string[]> {
  const names = await readdir('/proc/self/fd')
  const links = await Promise.all(names.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => '')))
  return links.filter((link) => link.includes(folder) && link.endsWith('.pack'))
}
