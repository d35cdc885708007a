import { type FileHandle, open, opendir, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { makeFolders, syncFolder } from '../kernel/durable.ts'
import { streamFile } from '../kernel/file-stream.ts'
import { randomHex } from '../kernel/hashing.ts'
import { emptyIfMissing, noneIfMissing } from '../kernel/missing.ts'
import { type Measured, measured } from './measured.ts'
import { probe } from './probe.ts'
import { checkKey, type ListedObject, type ObjectRange, type ObjectStore, type OpenObject } from './store.ts'

/** Where uploads are written until they are whole. No key begins with a dot. */
const UPLOADS = '.uploads'

/**
 * Objects as files `<root>/<key>`. Replicas may share the folder: a file is written aside under a random name, flushed to the disk
 * and renamed, so whoever finds it finds all of it.
 */
export function createDiskStore(root: string): ObjectStore {
  const pathOf = (key: string) => join(root, checkKey(key))
  const uploads = join(root, UPLOADS)
  const store: ObjectStore = {
    async put(key, content, option) {
      const path = pathOf(key)
      await makeFolders(uploads, 0o700)
      const aside = join(uploads, randomHex(16))
      const incoming = measured(content, option)
      try {
        await writeFlushed(aside, incoming)
        await makeFolders(dirname(path), 0o700)
        await rename(aside, path)
      } catch (error) {
        await rm(aside, { force: true })
        throw error
      } finally {
        await incoming.release()
      }
      await syncFolder(dirname(path))
      return incoming.result()
    },
    async open(key, range) {
      const file = await open(pathOf(key)).catch(noneIfMissing)
      return file && (await readOpen(file, range))
    },
    async size(key) {
      return (await stat(pathOf(key)).catch(noneIfMissing))?.size
    },
    async remove(key) {
      await rm(pathOf(key), { force: true })
    },
    list: (folder) => listFolder(root, checkKey(folder)),
    removeUnfinished: (before) => removeOlder(uploads, before),
    check: () => probe(store),
  }
  return store
}

async function writeFlushed(path: string, { content }: Measured): Promise<void> {
  await using file = await open(path, 'wx', 0o600)
  for await (const chunk of content) {
    for (let at = 0; at < chunk.byteLength; ) {
      const { bytesWritten } = await file.write(chunk, at)
      at += bytesWritten
    }
  }
  await file.sync()
}

async function readOpen(file: FileHandle, range: ObjectRange | undefined): Promise<OpenObject> {
  try {
    const { size } = await file.stat()
    const { start, end } = { start: 0, end: size, ...range }
    const content = streamFile(file, start, {
      available: async () => Math.min(end, size),
      close: () => file.close(),
    })
    return { size, content }
  } catch (error) {
    await file.close()
    throw error
  }
}

/** Files that go away meanwhile are left out. */
async function* listFolder(root: string, folder: string): AsyncGenerator<ListedObject> {
  const entries = await opendir(join(root, folder)).catch(noneIfMissing)
  if (!entries) return
  for await (const entry of entries) {
    const key = `${folder}/${entry.name}`
    if (entry.isDirectory()) yield* listFolder(root, key)
    const found = entry.isFile() ? await stat(join(root, key)).catch(noneIfMissing) : undefined
    if (found) yield { key, size: found.size, modifiedAt: found.mtime }
  }
}

/** An upload that goes on changes its file all the time. */
async function removeOlder(folder: string, before: Date): Promise<number> {
  let removed = 0
  for (const name of await readdir(folder).catch(emptyIfMissing)) {
    const path = join(folder, name)
    const found = await stat(path).catch(noneIfMissing)
    if (!found || found.mtime >= before) continue
    await rm(path, { force: true })
    removed += 1
  }
  return removed
}
