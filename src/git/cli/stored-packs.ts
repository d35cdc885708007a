import { open, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode } from '../../kernel/thrown.ts'
import { PACK_HEADER_BYTES, PACK_SIGNATURE } from '../pack.ts'

export interface StoredPack {
  /** Without its ending. */
  path: string
  bytes: number
  objects: number
  changedAt: number
  hasBitmap: boolean
}

/**
 * The packs of a repository, if nothing is stored but in them. Undefined where there is more (loose objects, objects of another
 * repository, a history with an end), where there are more than `max`, and where one is no pack of today.
 * @throws what a file system throws, where something is in motion
 */
export async function listStoredPacks(folder: string, max: number): Promise<StoredPack[] | undefined> {
  const objects = join(folder, 'objects')
  const [places, files] = await Promise.all([readdir(objects), readdir(join(objects, 'pack'))])
  const names = files.filter((name) => name.endsWith('.pack'))
  if (names.length === 0 || names.length > max || files.some((name) => name.endsWith('.promisor'))) return undefined
  const loose = places.filter((name) => /^[0-9a-f]{2}$/.test(name)).map((name) => readdir(join(objects, name)))
  if ((await Promise.all(loose)).flat().length > 0) return undefined
  const foreign = ['shallow', 'objects/info/alternates'].map((name) => isThere(join(folder, name)))
  if ((await Promise.all(foreign)).includes(true)) return undefined
  const packs = await Promise.all(
    names.map((name) => readStoredPack(join(objects, 'pack', name.slice(0, -'.pack'.length)), files)),
  )
  const known = packs.filter((pack) => pack !== undefined)
  return known.length === packs.length ? known : undefined
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    (error) => {
      if (errorCode(error) === 'ENOENT') return false
      throw error
    },
  )

async function readStoredPack(path: string, files: readonly string[]): Promise<StoredPack | undefined> {
  const handle = await open(`${path}.pack`)
  try {
    const { size, mtimeMs } = await handle.stat()
    const header = Buffer.alloc(PACK_HEADER_BYTES)
    await handle.read(header, 0, PACK_HEADER_BYTES, 0)
    if (!header.subarray(0, PACK_SIGNATURE.length).equals(PACK_SIGNATURE)) return undefined
    const name = path.slice(path.lastIndexOf('/') + 1)
    const hasBitmap = files.includes(`${name}.bitmap`)
    return { path, bytes: size, objects: header.readUInt32BE(PACK_SIGNATURE.length), changedAt: mtimeMs, hasBitmap }
  } finally {
    await handle.close()
  }
}
