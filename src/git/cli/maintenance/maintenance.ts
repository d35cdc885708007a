import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { emptyIfMissing, noneIfMissing } from '../../../kernel/missing.ts'
import type { Call, Integrity, RepositorySize } from '../../model.ts'
import { CREATING, TRASH } from '../../storage.ts'
import { requireFolder, type Store } from '../store.ts'
import { checkRepository } from './integrity.ts'

/** Counted in process: one folder list per 256 loose objects, no child. */
export async function sizeOnDisk(store: Store, id: number): Promise<RepositorySize> {
  const folder = await requireFolder(store.runner.root, id)
  const size: RepositorySize = { bytes: 0, looseObjects: 0, packs: 0 }
  for await (const { path, bytes } of walk(folder)) {
    size.bytes += bytes
    if (/\/objects\/[0-9a-f]{2}\/[0-9a-f]+$/.test(path)) size.looseObjects++
    if (path.endsWith('.pack')) size.packs++
  }
  return size
}

/** All files below; what vanishes meanwhile is left out. */
export async function* walk(folder: string): AsyncIterable<{ path: string; bytes: number; changed: Date }> {
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(emptyIfMissing)) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) yield* walk(path)
    else if (entry.isFile()) {
      const file = await stat(path).catch(noneIfMissing)
      if (file) yield { path, bytes: file.size, changed: file.mtime }
    }
  }
}

export async function fsck(
  store: Store,
  id: number,
  option: { isFull?: boolean } = {},
  call?: Call,
): Promise<Integrity> {
  return checkRepository(store.runner, await requireFolder(store.runner.root, id), option, call)
}

/** Locks, quarantines of pushes, unfinished packs and objects: what only a killed process leaves. */
const STALE = /\.lock$|\/objects\/(?:pack|[0-9a-f]{2})\/(?:tmp_|\.tmp-)/

export async function cleanStale(
  store: Store,
  id: number,
  olderThanSeconds: number,
  locksOlderThanSeconds = olderThanSeconds,
): Promise<number> {
  const folder = await requireFolder(store.runner.root, id)
  const stale = await listStale(store, id, olderThanSeconds, locksOlderThanSeconds)
  for (const path of stale) await rm(join(folder, path), { recursive: true, force: true })
  return stale.length
}

export async function listStale(
  store: Store,
  id: number,
  olderThanSeconds: number,
  locksOlderThanSeconds = olderThanSeconds,
): Promise<string[]> {
  const folder = await requireFolder(store.runner.root, id)
  const now = store.runner.clock.now().getTime()
  const before = now - olderThanSeconds * 1000
  const locksBefore = now - locksOlderThanSeconds * 1000
  const found: string[] = []
  for await (const { path, changed } of walk(folder)) {
    const name = path.slice(folder.length)
    if (STALE.test(name) && changed.getTime() <= (path.endsWith('.lock') ? locksBefore : before))
      found.push(name.slice(1))
  }
  const quarantines = (await readdir(join(folder, 'objects'))).filter((name) => /^(?:tmp_objdir|incoming)-/.test(name))
  const old = await listOld(join(folder, 'objects'), quarantines, before)
  return [...found, ...old.map((name) => `objects/${name}`)]
}

export async function cleanStore(store: Store, olderThanSeconds: number): Promise<number> {
  const found = await listHalfBuilt(store, olderThanSeconds)
  for (const path of found) await rm(join(store.runner.root, path), { recursive: true, force: true })
  return found.length
}

export async function listHalfBuilt(store: Store, olderThanSeconds: number): Promise<string[]> {
  const before = store.runner.clock.now().getTime() - olderThanSeconds * 1000
  const found: string[] = []
  for (const name of [CREATING, TRASH]) {
    const folder = join(store.runner.root, name)
    const old = await listOld(folder, await readdir(folder).catch(emptyIfMissing), before)
    found.push(...old.map((entry) => `${name}/${entry}`))
  }
  return found
}

async function listOld(folder: string, names: string[], before: number): Promise<string[]> {
  const old: string[] = []
  for (const name of names) if ((await lastChange(join(folder, name))) <= before) old.push(name)
  return old
}

/** Of a folder and all in it, ms: a long push writes deep inside a folder that was made hours ago. */
async function lastChange(folder: string): Promise<number> {
  const entry = await stat(folder).catch(noneIfMissing)
  let last = entry?.mtimeMs ?? 0
  for await (const { changed } of walk(folder)) last = Math.max(last, changed.getTime())
  return last
}
