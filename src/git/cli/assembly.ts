import { open } from 'node:fs/promises'
import type { ObjectFormat } from '../model.ts'
import { PackIndex } from './pack-index.ts'
import { PACK_HEADER_BYTES, type StoredPack } from './stored-packs.ts'

/** Objects of one stored pack, as they lie there. */
export interface Piece {
  path: string
  from: number
  /** The first byte that is not sent. */
  to: number
}

/** A pack made of what is on the disk: a header, pieces, and a checksum. */
export interface Assembly {
  format: ObjectFormat
  objects: number
  pieces: readonly Piece[]
  /** Over all before it; unknown until somebody has been sent it. */
  checksum: Buffer | undefined
}

export const ID_BYTES: Record<ObjectFormat, number> = { sha1: 20, sha256: 32 }

/**
 * Git would look for deltas between the packs. What that might save is bounded: the small ones together are a tenth of the largest at
 * most, or little.
 */
const SMALL_SHARE = 0.1
const LITTLE_BYTES = 64 * 1024

/**
 * Lays stored packs end to end so that each of their objects comes once: the largest whole, then the others by age, of which the end may
 * be left out. That is where git puts those it needs as bases of a push and has already; distances between objects stay what they
 * were, and a delta whose base is left out names that by its id. Its base lies in a pack before, so no two deltas wait for each
 * other. Undefined where it cannot be.
 * @throws what a file system throws
 */
export async function assemble(packs: readonly StoredPack[], format: ObjectFormat): Promise<Assembly | undefined> {
  const idBytes = ID_BYTES[format]
  const [largest, ...others] = [...packs].sort((one, other) => other.bytes - one.bytes)
  if (!largest) return undefined
  const whole = { path: `${largest.path}.pack`, from: PACK_HEADER_BYTES, to: largest.bytes - idBytes }
  if (others.length === 0) {
    return { format, objects: largest.objects, pieces: [whole], checksum: await readChecksum(largest, idBytes) }
  }
  const first = await readIndex(largest, idBytes)
  if (!first) return undefined
  const before = [first]
  const pieces = [whole]
  let { objects } = largest
  let room = Math.max(LITTLE_BYTES, largest.bytes * SMALL_SHARE)
  for (const pack of others.sort((one, other) => one.changedAt - other.changedAt)) {
    const index = await readIndex(pack, idBytes)
    const cut = index && cutKnown(index, before, pack.bytes - idBytes)
    if (!index || !cut) return undefined
    room -= cut.to - PACK_HEADER_BYTES
    if (room < 0) return undefined
    before.push(index)
    objects += cut.objects
    if (cut.objects > 0) pieces.push({ path: `${pack.path}.pack`, from: PACK_HEADER_BYTES, to: cut.to })
  }
  return { format, objects, pieces, checksum: undefined }
}

/** Where its objects end that no pack before has. Undefined where known ones lie between them. */
function cutKnown(index: PackIndex, before: readonly PackIndex[], end: number) {
  const entries = index.entries()
  const isKnown = ({ id }: { id: Buffer }) => before.some((other) => other.has(id))
  const cut = entries.findIndex(isKnown)
  if (cut < 0) return { objects: entries.length, to: end }
  return entries.slice(cut).every(isKnown) ? { objects: cut, to: entries[cut]?.offset ?? end } : undefined
}

async function readIndex({ path, objects }: StoredPack, idBytes: number): Promise<PackIndex | undefined> {
  const index = await PackIndex.read(`${path}.idx`, idBytes)
  return index?.count === objects ? index : undefined
}

async function readChecksum({ path, bytes }: StoredPack, idBytes: number): Promise<Buffer> {
  const handle = await open(`${path}.pack`)
  try {
    const checksum = Buffer.alloc(idBytes)
    await handle.read(checksum, 0, idBytes, bytes - idBytes)
    return checksum
  } finally {
    await handle.close()
  }
}
