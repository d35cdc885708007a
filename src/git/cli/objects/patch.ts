import { randomBytes } from 'node:crypto'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { GitError } from '../../errors.ts'
import type { Call, TreeChange } from '../../model.ts'
import { type Command, runGit } from '../process/process.ts'
import { requireFolder, type Store } from '../store.ts'
import { limitPaths } from './tree-size.ts'
import { emptyTreeOf } from './trees.ts'
import { chooseBranch } from './write.ts'

type Place = Omit<Command, 'args'>

/**
 * `git apply` changes an index of its own here, and the objects that it makes lie aside, where they are read and then removed. It refuses
 * paths that leave the tree or lead through a link; whoever commits judges the paths again.
 */
export async function readPatch(
  store: Store,
  id: number,
  { branch, patch }: { branch: string; patch: string },
  call?: Call,
): Promise<TreeChange[]> {
  const folder = await requireFolder(store.runner.root, id)
  const { parent } = await chooseBranch(store, id, { branch }, call)
  const tree = parent?.tree ?? (await emptyTreeOf(store, id))
  await limitPaths(store, id, [{ after: tree }], call)
  // Named as git names what it keeps aside, so that what a crash leaves is removed like that.
  const aside = join(folder, 'objects', `tmp_objdir-${randomBytes(8).toString('hex')}`)
  const environment = { GIT_OBJECT_DIRECTORY: aside, GIT_INDEX_FILE: join(aside, 'index') }
  const place: Place = { folder, beside: folder, environment, settings: [['core.fsync', 'none']], call, memory: 'much' }
  try {
    await mkdir(aside)
    await runGit(store.runner, { ...place, args: ['read-tree', tree] })
    await applyPatch(store, place, patch)
    return await readChanges(store, place, tree)
  } finally {
    await rm(aside, { recursive: true, force: true })
  }
}

async function applyPatch({ runner }: Store, place: Place, patch: string): Promise<void> {
  const args = ['apply', '--cached', '--whitespace=nowarn', '-']
  const { exitCode, stderr } = await runGit(runner, { ...place, args, stdin: patch, accepts: [0, 1, 128] })
  if (exitCode === 0) return
  const [, subject] = /^error: patch failed: (.*):\d+$/m.exec(stderr) ?? []
  throw new GitError('invalid', 'patch', 'the patch does not apply', { subject, stderr })
}

/** What the index has and the tree has not, or otherwise. What goes comes first: a folder may take the place of a file. */
async function readChanges({ runner }: Store, place: Place, tree: string): Promise<TreeChange[]> {
  const args = ['diff-index', '--cached', '--raw', '-z', '--no-renames', '--full-index', tree]
  const { stdout } = await runGit(runner, { ...place, args })
  const entries = parseEntries(stdout)
  const wanted = entries.filter(({ mode }) => mode !== GONE && mode !== SUBMODULE).map(({ sha }) => sha)
  const contents = await readContents(runner, place, [...new Set(wanted)])
  return entries
    .sort((one, other) => Number(other.mode === GONE) - Number(one.mode === GONE))
    .map(({ path, mode, sha, old }) => {
      if (mode === GONE) return { op: 'delete', path, sha: old ?? undefined }
      return { op: 'set', path, mode, content: contents.get(sha) ?? { sha }, old }
    })
}

const GONE = '000000'
const SUBMODULE = '160000'

interface Entry {
  path: string
  mode: string
  sha: string
  old: string | null
}

/** `:100644 100755 <id> <id> M`, NUL, path, NUL. @throws GitError for a path that is no UTF-8, which could not be written back */
function parseEntries(stdout: Buffer): Entry[] {
  const fields = decode(stdout).split('\0')
  const entries: Entry[] = []
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [oldMode, mode = '', old = '', sha = ''] = (fields[at] ?? '').replace(':', '').split(' ')
    entries.push({ path: fields[at + 1] ?? '', mode, sha, old: oldMode === GONE ? null : old })
  }
  return entries
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new GitError('invalid', 'patch', 'the patch names a path that is no UTF-8')
  }
}

/** By id. All together may be as long as the output of a command. */
async function readContents(runner: Store['runner'], place: Place, shas: string[]): Promise<Map<string, Uint8Array>> {
  const contents = new Map<string, Uint8Array>()
  if (shas.length === 0) return contents
  const { stdout } = await runGit(runner, { ...place, args: ['cat-file', '--batch'], stdin: `${shas.join('\n')}\n` })
  for (let at = 0; at < stdout.length; ) {
    const end = stdout.indexOf('\n', at)
    const [sha = '', , size] = stdout.toString('latin1', at, end).split(' ')
    const start = end + 1
    contents.set(sha, stdout.subarray(start, start + Number(size)))
    at = start + Number(size) + 1
  }
  return contents
}
