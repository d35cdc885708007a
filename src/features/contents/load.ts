import type { Git } from '../../git/engine.ts'
import type { Commit, TreeEntry } from '../../git/model.ts'
import { gitTime } from '../../wire/commit.ts'
import type { ShownContents } from '../../wire/contents.ts'
import { MAX_BLOB_BYTES } from '../../wire/limits.ts'
import { readBase64 } from '../commits/blobs.ts'
import { MAX_POINTER_BYTES, readPointer } from '../lfs/pointer.ts'
import { readSubmodules } from './submodules.ts'

export interface Parts {
  withContent: boolean
  /** What a pointer of large file storage stands for. */
  withLargeFile: boolean
  withLastCommit: boolean
  withMessage: boolean
}

export interface Ground {
  git: Git
  repositoryId: number
  /** The commit that is looked into. */
  commit: Commit
  /** The entries are what this very commit has written. */
  isJustWritten?: boolean
  signal?: AbortSignal
}

/** A link longer than this is no link that a system would follow. */
const MAX_LINK_BYTES = 4096

/** What the answer shows of entries of one folder beside their names. Whatever the number of entries, few round trips to Git. */
export async function loadEntries(
  ground: Ground,
  entries: readonly TreeEntry[],
  parts: Parts,
): Promise<ShownContents[]> {
  const { git, repositoryId, commit } = ground
  const hasSubmodules = entries.some(({ kind }) => kind === 'submodule')
  const [commits, submodules, targets, files] = await Promise.all([
    parts.withLastCommit || parts.withMessage ? loadLastCommits(ground, entries) : new Map<string, Commit>(),
    hasSubmodules ? readSubmodules(git, repositoryId, commit.tree) : new Map<string, string>(),
    loadTargets(ground, entries),
    loadFiles(ground, entries, parts),
  ])
  return entries.map((entry) => ({
    ...entry,
    ...describeFile(files.get(entry.path), parts),
    target: targets.get(entry.path) ?? null,
    submoduleUrl: submodules.get(entry.path) ?? null,
    lastCommit: describeCommit(commits.get(entry.path), parts),
  }))
}

function describeCommit(commit: Commit | undefined, parts: Parts): ShownContents['lastCommit'] {
  if (!commit) return undefined
  return {
    sha: commit.sha,
    committedAt: gitTime(commit.committer),
    authoredAt: gitTime(commit.author),
    ...(parts.withMessage && { message: commit.message }),
  }
}

/** By path. Where the walk through the history took too long, the commit that is looked at stands for the unknown one. */
async function loadLastCommits(ground: Ground, entries: readonly TreeEntry[]): Promise<Map<string, Commit>> {
  const { git, repositoryId, commit, signal } = ground
  const [first] = entries
  if (!first) return new Map()
  if (ground.isJustWritten) return new Map(entries.map(({ path }) => [path, commit]))
  const folder = first.path.slice(0, Math.max(0, first.path.length - first.name.length - 1))
  const names = entries.map(({ name }) => name)
  const shas = await git.lastCommits(repositoryId, { revision: commit.sha, folder, names }, { signal })
  const known = await git.readCommits(repositoryId, [...new Set(shas.values())])
  return new Map(entries.map(({ path, name }) => [path, known.get(shas.get(name) ?? '') ?? commit]))
}

/** The text of symbolic links, by path. */
async function loadTargets(ground: Ground, entries: readonly TreeEntry[]): Promise<Map<string, string>> {
  const links = entries.filter(({ kind, size = 0 }) => kind === 'symlink' && size <= MAX_LINK_BYTES)
  const texts = await readBlobs(ground, links, MAX_LINK_BYTES)
  return new Map([...texts].map(([path, bytes]) => [path, Buffer.from(bytes).toString()]))
}

/** By path: only files, and none that is longer than what is asked for. */
async function loadFiles(
  ground: Ground,
  entries: readonly TreeEntry[],
  { withContent, withLargeFile }: Parts,
): Promise<Map<string, Uint8Array>> {
  const maxBytes = withContent ? MAX_BLOB_BYTES : withLargeFile ? MAX_POINTER_BYTES : -1
  const files = entries.filter(({ kind, size = 0 }) => (kind === 'file' || kind === 'executable') && size <= maxBytes)
  return readBlobs(ground, files, maxBytes)
}

const describeFile = (
  bytes: Uint8Array | undefined,
  { withContent, withLargeFile }: Parts,
): Pick<ShownContents, 'content' | 'largeFile'> => ({
  content: bytes && withContent ? readBase64(bytes) : null,
  largeFile: bytes && withLargeFile ? readPointer(bytes) : undefined,
})

/** Blobs that are asked for at once: enough that Git never waits for a question. */
const AT_ONCE = 64

async function readBlobs(
  { git, repositoryId, signal }: Ground,
  entries: readonly TreeEntry[],
  maxBytes: number,
): Promise<Map<string, Uint8Array>> {
  const found = new Map<string, Uint8Array>()
  for (let at = 0; at < entries.length; at += AT_ONCE) {
    const some = entries.slice(at, at + AT_ONCE)
    const blobs = await Promise.all(some.map(({ sha }) => git.readBlob(repositoryId, sha, { maxBytes }, { signal })))
    for (const [index, { path }] of some.entries()) found.set(path, blobs[index]?.bytes ?? new Uint8Array())
  }
  return found
}
