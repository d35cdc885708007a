import { GitError } from '../../errors.ts'
import type { Call, Commit, FilesCommit, FilesCommitted, InitialCommit, Signature, Tag } from '../../model.ts'
import { isValidBranchName, isValidTagName } from '../../names.ts'
import { cleanMessage, encodeCommit, encodeSignature, encodeTag, parseCommit, parseTag } from '../../objects.ts'
import { PackBuilder } from '../../pack.ts'
import { isSubmoduleFile } from '../../paths.ts'
import { listRefs, updateRefs } from '../refs/refs.ts'
import { findBranch, resolveObject } from '../refs/revisions.ts'
import { objectFormatOf, requireFolder, type Store } from '../store.ts'
import { checkPack, writePack } from './pack-writer.ts'
import { TreeEditor } from './tree-editor.ts'
import { readItems } from './trees.ts'

export async function commitFiles(store: Store, id: number, option: FilesCommit, call?: Call): Promise<FilesCommitted> {
  const { parent, branch } = await chooseBranch(store, id, option, call)
  const pack = new PackBuilder(await objectFormatOf(store, id))
  const editor = new TreeEditor(pack, (sha) => readItems(store, id, sha, call))
  if (parent) await editor.open(parent.tree)
  for (const change of option.changes) await editor.apply(change)
  const tree = editor.write()
  if (tree === parent?.tree && !option.allowEmpty)
    throw new GitError('invalid', 'nothing-changed', 'the files are the same')
  const message = option.signoff ? signOff(option.message, option.committer) : option.message
  const content = encodeCommit({ ...option, tree, parents: parent ? [parent.sha] : [], message })
  const sha = pack.add('commit', content)
  const ref = `refs/heads/${branch}`
  await writeObjects(
    store,
    id,
    pack,
    option.changes.map(({ path }) => path),
  )
  const old = option.newBranch === undefined ? (parent?.sha ?? null) : option.replacesNewBranch ? undefined : null
  await moveBranch(store, id, { ref, old, sha, call })
  return { commit: parseCommit(sha, content), ref, parent: parent?.sha, blobs: editor.blobs }
}

/** Where the commit is built upon and what it moves. A missing branch is made only in a repository that has none. */
export async function chooseBranch(
  store: Store,
  id: number,
  option: Pick<FilesCommit, 'branch' | 'newBranch' | 'expectedHead'>,
  call?: Call,
): Promise<{ parent?: Commit; branch: string }> {
  const branch = option.newBranch ?? option.branch
  for (const name of [branch, option.branch]) {
    if (!isValidBranchName(name)) throw new GitError('invalid', 'ref-name', 'not a branch name', { subject: name })
  }
  const parent = await findBranch(store, id, option.branch, call)
  if (option.expectedHead !== undefined && parent?.sha !== option.expectedHead) throw headMoved(option.branch)
  if (parent) return { parent, branch }
  const others = await listRefs(store, id, { prefix: 'refs/heads/', limit: 1 }, call)
  if (others.length === 0) return { branch }
  // Somebody else may have made it between the two looks.
  if (await findBranch(store, id, option.branch, call)) throw headMoved(option.branch)
  throw new GitError('not-found', 'branch-missing', 'no such branch', { subject: option.branch })
}

const headMoved = (branch: string) =>
  new GitError('conflict', 'head-moved', 'the branch has moved', { subject: branch })

async function moveBranch(
  store: Store,
  id: number,
  move: { ref: string; old: string | null | undefined; sha: string; call: Call | undefined },
): Promise<void> {
  try {
    await updateRefs(store, id, [{ ref: move.ref, old: move.old, new: move.sha }], move.call)
  } catch (error) {
    if (!(error instanceof GitError) || error.code !== 'ref-moved') throw error
    if (move.old !== null) throw headMoved(move.ref)
    throw new GitError('conflict', 'branch-exists', 'the branch exists already', { subject: move.ref })
  }
}

async function writeObjects(store: Store, id: number, pack: PackBuilder, paths: string[]): Promise<void> {
  const folder = await requireFolder(store.runner.root, id)
  const check = paths.some(isSubmoduleFile) ? (file: string) => checkPack(store.runner, folder, file) : undefined
  await writePack(folder, await pack.build(), check)
}

function signOff(message: string, { name, email, date }: Signature): string {
  const person = encodeSignature({ name, email, date }).replace(/>.*$/, '>')
  const text = cleanMessage(message).trimEnd()
  const line = `Signed-off-by: ${person}`
  if (text.split('\n').includes(line)) return text
  const isTrailer = /\n\n(?:[A-Za-z-]+: .*\n?)+$/.test(text)
  return `${text}${isTrailer ? '\n' : '\n\n'}${line}`
}

/** The objects of a first commit; the caller writes the pack and the branch. */
export async function buildInitialCommit(pack: PackBuilder, commit: InitialCommit): Promise<Commit> {
  const editor = new TreeEditor(pack, () => Promise.resolve([]))
  for (const file of commit.files) await editor.apply({ op: 'create', ...file })
  const content = encodeCommit({ ...commit, tree: editor.write(), parents: [] })
  return parseCommit(pack.add('commit', content), content)
}

export async function readTag(store: Store, id: number, sha: string, call?: Call): Promise<Tag> {
  const object = await resolveObject(store, id, sha, call)
  const [answer] = await store.readers.ask(
    id,
    [{ verb: 'contents', name: object.sha, maxBytes: 4 * 1024 * 1024 }],
    call,
  )
  if (answer?.kind === 'object' && answer.type === 'tag' && answer.content) return parseTag(answer.sha, answer.content)
  throw new GitError('invalid', 'object-type', 'not an annotated tag', { subject: sha })
}

export interface NewTag {
  name: string
  target: string
  message?: string
  tagger?: Signature
}

export async function createTag(store: Store, id: number, option: NewTag, call?: Call): Promise<{ sha: string }> {
  const { name, message, tagger } = option
  if (!isValidTagName(name)) throw new GitError('invalid', 'ref-name', 'not a tag name', { subject: name })
  const target = await resolveObject(store, id, option.target, call)
  let { sha } = target
  if (message) {
    const pack = new PackBuilder(await objectFormatOf(store, id))
    sha = pack.add('tag', encodeTag({ name, target: target.sha, type: target.type, tagger, message }))
    await writeObjects(store, id, pack, [])
  }
  await updateRefs(store, id, [{ ref: `refs/tags/${name}`, old: null, new: sha }], call)
  return { sha }
}
