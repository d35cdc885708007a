import { GitError } from '../../errors.ts'
import type { Call, Commit, MergeCommit } from '../../model.ts'
import { encodeCommit, parseCommit } from '../../objects.ts'
import { PackBuilder } from '../../pack.ts'
import { writePack } from '../objects/pack-writer.ts'
import { limitPaths } from '../objects/tree-size.ts'
import { runGit } from '../process/process.ts'
import { resolveCommit } from '../refs/revisions.ts'
import { objectFormatOf, requireFolder, type Store } from '../store.ts'

/** By its id rather than by a branch, which may have moved since it was judged. Nothing names the objects until a ref does. */
export async function fetchCommit(
  store: Store,
  id: number,
  { repositoryId, sha }: { repositoryId: number; sha: string },
  call?: Call,
): Promise<void> {
  const { root } = store.runner
  const [folder, source] = await Promise.all([requireFolder(root, id), requireFolder(root, repositoryId)])
  await resolveCommit(store, repositoryId, sha, call)
  await runGit(store.runner, {
    args: ['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--end-of-options', source, sha],
    folder,
    // Closed everywhere else; this path is one of the store's own.
    settings: [['protocol.file.allow', 'always']],
    call,
    isTransfer: true,
    memory: 'any',
  })
}

/** Files are merged as `git merge` does, by the objects alone: a repository of the store has no work tree. */
export async function mergeCommits(store: Store, id: number, option: MergeCommit, call?: Call): Promise<Commit> {
  const [ours, theirs] = await Promise.all([
    resolveCommit(store, id, option.ours, call),
    resolveCommit(store, id, option.theirs, call),
  ])
  const folder = await requireFolder(store.runner.root, id)
  await limitPaths(store, id, [{ before: ours, after: theirs }], call)
  const args = ['merge-tree', '--write-tree', '--no-messages', ours, theirs]
  const merged = await runGit(store.runner, { args, folder, call, memory: 'much', accepts: [0, 1, 128] })
  const tree = merged.stdout.toString().split('\n', 1)[0] ?? ''
  if (merged.exitCode === 1 || /unrelated histories/.test(merged.stderr))
    throw new GitError('conflict', 'merge-conflict', 'the changes cannot be merged by themselves')
  if (merged.exitCode !== 0) throw new GitError('failed', 'program', 'git merge-tree failed', { stderr: merged.stderr })
  const pack = new PackBuilder(await objectFormatOf(store, id))
  const content = encodeCommit({ ...option, tree, parents: [ours, theirs] })
  const sha = pack.add('commit', content)
  await writePack(folder, await pack.build())
  return parseCommit(sha, content)
}
