import type { Call } from '../../model.ts'
import { runGit } from '../process/process.ts'
import { resolveCommit } from '../refs/revisions.ts'
import { requireFolder, type Store } from '../store.ts'

export async function mergeBase(
  store: Store,
  id: number,
  pair: [string, string],
  call?: Call,
): Promise<string | undefined> {
  const [one, other] = await Promise.all(pair.map((name) => resolveCommit(store, id, name, call)))
  const folder = await requireFolder(store.runner.root, id)
  const args = ['merge-base', '--end-of-options', one ?? '', other ?? '']
  const { stdout } = await runGit(store.runner, { args, folder, call, accepts: [0, 1] })
  return stdout.toString().split('\n').find(Boolean)
}

export async function isAncestor(store: Store, id: number, pair: [string, string], call?: Call): Promise<boolean> {
  const [ancestor, descendant] = await Promise.all(pair.map((name) => resolveCommit(store, id, name, call)))
  if (ancestor === descendant) return true
  const folder = await requireFolder(store.runner.root, id)
  const args = ['merge-base', '--is-ancestor', ancestor ?? '', descendant ?? '']
  return (await runGit(store.runner, { args, folder, call, accepts: [0, 1] })).exitCode === 0
}

export async function aheadBehind(store: Store, id: number, pair: [string, string], call?: Call) {
  const [head, base] = await Promise.all(pair.map((name) => resolveCommit(store, id, name, call)))
  const folder = await requireFolder(store.runner.root, id)
  const args = ['rev-list', '--left-right', '--count', '--end-of-options', `${head}...${base}`, '--']
  const { stdout } = await runGit(store.runner, { args, folder, call })
  const [ahead, behind] = stdout.toString().split('\t').map(Number)
  return { ahead: ahead ?? 0, behind: behind ?? 0 }
}
