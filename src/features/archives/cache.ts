import { createHash } from 'node:crypto'
import { stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import type { Context } from '../../context.ts'
import type { ArchiveFormat } from '../../git/model.ts'
import { errorCode } from '../../kernel/thrown.ts'
import { Build } from './build.ts'
import { archivesFolderOf, noteGrowth } from './cleanup.ts'

export interface ArchiveQuery {
  repositoryId: number
  commit: string
  format: ArchiveFormat
  /** The folder that everything lies in. */
  prefix: string
  /** Only these files and folders; all when empty. */
  paths: readonly string[]
}

export interface KeptArchive {
  /** Bytes. */
  size: number
  file: Blob
}

/** Everything that the bytes depend on: the commit, never the name of a ref, which may move. */
export function archiveKey({ commit, format, prefix, paths }: ArchiveQuery): string {
  const rest = createHash('sha256')
    .update(JSON.stringify([prefix, [...paths].sort()]))
    .digest('hex')
  return `${commit}-${rest.slice(0, 16)}.${format}`
}

/** Archives that are being made in this process, by the path that they will have. */
const builds = new Map<string, Build>()

/** The kept archive; undefined when there is none. */
export async function findArchive(context: Context, query: ArchiveQuery): Promise<KeptArchive | undefined> {
  const path = pathOf(context, query)
  const now = context.clock.now()
  try {
    // What was used last is kept longest, so that it is still there when it is sent.
    await utimes(path, now, now)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  }
  const { size } = await stat(path)
  return { size, file: Bun.file(path) }
}

/** The archive as it grows: begins to make it, or joins whoever is making it. Throws as `Git.archive`. */
export function makeArchive(
  context: Context,
  query: ArchiveQuery,
  signal?: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  const path = pathOf(context, query)
  const current = builds.get(path)
  return (current && !current.isGivenUp ? current : begin(context, query, path)).read(signal)
}

function begin(context: Context, query: ArchiveQuery, path: string): Build {
  const { repositoryId, commit, format, prefix, paths } = query
  const source = (signal: AbortSignal) =>
    context.git.archive(repositoryId, { revision: commit, format, prefix, paths }, { signal })
  const build = new Build(path, source, () => context.config.archiveCacheBytes - bytesInTheMaking())
  builds.set(path, build)
  void build.done.then(() => {
    if (builds.get(path) === build) builds.delete(path)
    noteGrowth(context, build.size)
  })
  return build
}

/** However many are made at once, together they fill the disk no further than those that are kept. */
const bytesInTheMaking = (): number => builds.values().reduce((sum, { size }) => sum + size, 0)

const pathOf = (context: Context, query: ArchiveQuery): string =>
  join(archivesFolderOf(context), String(query.repositoryId), archiveKey(query))
