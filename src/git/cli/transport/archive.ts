import { sha256Hex } from '../../../kernel/hashing.ts'
import { GitError } from '../../errors.ts'
import type { Archive, ArchiveQuery, Call } from '../../model.ts'
import { pathProblem } from '../../paths.ts'
import { sliced } from '../cache/slice.ts'
import type { StreamKey } from '../cache/stream-cache.ts'
import { limitPaths } from '../objects/tree-size.ts'
import { findEntry } from '../objects/trees.ts'
import { type Command, failure, startGitInto, streamGit } from '../process/process.ts'
import { resolveCommit } from '../refs/revisions.ts'
import { requireFolder, type Store } from '../store.ts'

/** The cached archive of a commit; undefined when there is none. */
export async function findArchive(store: Store, id: number, query: ArchiveQuery): Promise<Archive | undefined> {
  return store.streams.find(keyOf(id, query))
}

export async function archive(store: Store, id: number, query: ArchiveQuery, call?: Call): Promise<Archive> {
  const { prefix, paths = [] } = query
  if (prefix !== undefined && pathProblem(prefix)) throw new GitError('invalid', 'path-syntax', 'the prefix is refused')
  const revision = await resolveCommit(store, id, query.revision, call)
  for (const path of paths) {
    if (await findEntry(store, id, revision, path, call)) continue
    throw new GitError('not-found', 'path', 'no such path', { subject: path })
  }
  const roots = paths.length > 0 ? paths.map((path) => `${revision}:${path}`) : [revision]
  await limitPaths(
    store,
    id,
    roots.map((after) => ({ after })),
    call,
  )
  const folder = await requireFolder(store.runner.root, id)
  const command = { ...archiveCommand({ ...query, revision }), folder, isTransfer: true, memory: 'much' } as const
  const file = await store.streams.open(keyOf(id, { ...query, revision }), {
    expectedBytes: 0,
    // Without the signal of the request: others may be reading when that one ends.
    start: (stdout) => startGitInto(store.runner, { ...command, call: { client: call?.client } }, stdout),
    judge: (exit) => (exit.exitCode === 0 ? undefined : failure(command.args, exit)),
    mayCache: async () => true,
  })
  if (file) return file
  const stream = async () => streamGit(store.runner, { ...command, call })
  return { size: undefined, read: async (range) => sliced(await stream(), range) }
}

function archiveCommand({ revision, format, prefix, paths = [] }: ArchiveQuery): Pick<Command, 'args' | 'settings'> {
  return {
    args: ['archive', `--format=${format}`, ...(prefix ? [`--prefix=${prefix}/`] : []), revision, '--', ...paths],
    // `gzip` inside git: the program of that name need not be there, and no shell is asked for it.
    settings: [['tar.tar.gz.command', 'git archive gzip']],
  }
}

/** Everything that the bytes depend on: the commit, never the name of a ref, which may move. */
const keyOf = (repositoryId: number, { revision, format, prefix, paths = [] }: ArchiveQuery): StreamKey => ({
  repositoryId,
  name: sha256Hex(JSON.stringify(['archive', revision, format, prefix, [...paths].sort()])),
})
