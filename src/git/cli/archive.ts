import { GitError } from '../errors.ts'
import type { ArchiveFormat, Call } from '../model.ts'
import { pathFault } from '../paths.ts'
import { streamGit } from './process.ts'
import { resolveCommit } from './revisions.ts'
import { requireFolder, type Store } from './store.ts'
import { findEntry } from './trees.ts'

export interface ArchiveQuery {
  revision: string
  format: ArchiveFormat
  prefix?: string
  paths?: readonly string[]
}

export async function archive(
  store: Store,
  id: number,
  query: ArchiveQuery,
  call?: Call,
): Promise<ReadableStream<Uint8Array>> {
  const { format, prefix, paths = [] } = query
  if (prefix !== undefined && pathFault(prefix)) throw new GitError('invalid', 'path-syntax', 'the prefix is refused')
  const commit = await resolveCommit(store, id, query.revision, call)
  for (const path of paths) {
    if (await findEntry(store, id, commit, path, call)) continue
    throw new GitError('not-found', 'path', 'no such path', { subject: path })
  }
  const folder = await requireFolder(store.runner.root, id)
  const args = ['archive', `--format=${format}`, ...(prefix ? [`--prefix=${prefix}/`] : []), commit, '--', ...paths]
  // `gzip` inside git: the program of that name need not be there, and no shell is asked for it.
  const settings = [['tar.tar.gz.command', 'git archive gzip']] as const
  return streamGit(store.runner, { args, folder, settings, call, isTransfer: true })
}
