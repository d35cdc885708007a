import { join } from 'node:path'
import { syncFolder } from '../../../kernel/durable.ts'
import { GitError } from '../../errors.ts'
import type { Call, Commit, CopiedTree } from '../../model.ts'
import { isValidBranchName } from '../../names.ts'
import { encodeCommit, parseCommit } from '../../objects.ts'
import { PackBuilder } from '../../pack.ts'
import { writePack } from '../objects/pack-writer.ts'
import { TreeEditor } from '../objects/tree-editor.ts'
import { readItems } from '../objects/trees.ts'
import { runGit } from '../process/process.ts'
import { readCommit } from '../refs/revisions.ts'
import { objectFormatOf, requireFolder, type Store } from '../store.ts'
import { buildInPlace, writeRef, writeSkeleton } from './repositories.ts'

/**
 * A repository of one commit with the files of another repository's commit, some of them changed. Only what that tree names is copied:
 * nothing of the history, which may hold what was removed from it.
 */
export async function copyTree(store: Store, id: number, option: CopiedTree, call?: Call): Promise<Commit> {
  const { sourceId, defaultBranch, changes } = option
  if (!isValidBranchName(defaultBranch))
    throw new GitError('invalid', 'ref-name', 'not a branch name', { subject: defaultBranch })
  const source = await requireFolder(store.runner.root, sourceId)
  const objectFormat = await objectFormatOf(store, sourceId)
  const { tree } = await readCommit(store, sourceId, option.commit, call)
  const pack = new PackBuilder(objectFormat)
  const editor = new TreeEditor(pack, (sha) => readItems(store, sourceId, sha, call))
  await editor.open(tree)
  for (const change of changes) await editor.apply(change)
  const content = encodeCommit({ ...option, tree: editor.write(), parents: [] })
  const sha = pack.add('commit', content)
  const ref = `refs/heads/${defaultBranch}`
  await buildInPlace(store, id, async (folder) => {
    await writeSkeleton(folder, { objectFormat, head: ref })
    const packs = join(folder, 'objects', 'pack')
    await runGit(store.runner, {
      args: ['pack-objects', '--quiet', '--revs', '--delta-base-offset', join(packs, 'pack')],
      folder: source,
      stdin: `${tree}\n`,
      call,
      isTransfer: true,
      memory: 'any',
    })
    await writePack(folder, await pack.build())
    await syncFolder(packs)
    await writeRef(folder, ref, sha)
  })
  return parseCommit(sha, content)
}
