import { GitError, type GitErrorCode } from '../../errors.ts'
import type { SetEntry, TreeChange } from '../../model.ts'
import { encodeTree, type TreeItem } from '../../objects.ts'
import type { PackBuilder } from '../../pack.ts'
import { pathProblem } from '../../paths.ts'
import { kindOf } from './trees.ts'

const FOLDER = '040000'

interface Folder {
  items: Map<string, TreeItem>
  /** Only folders that were looked into; a changed one has an outdated id in `items` until it is written. */
  children: Map<string, Folder>
  isChanged: boolean
}

/** Applies changes to a tree in memory. Folders are loaded when a path leads through them, and only changed ones are written. */
export class TreeEditor {
  readonly #load: (sha: string) => Promise<TreeItem[]>
  readonly #pack: PackBuilder
  #root: Folder = { items: new Map(), children: new Map(), isChanged: true }
  readonly blobs = new Map<string, string>()

  constructor(pack: PackBuilder, load: (sha: string) => Promise<TreeItem[]>) {
    this.#pack = pack
    this.#load = load
  }

  async open(tree: string): Promise<void> {
    this.#root = await this.#loadFolder(tree)
  }

  async apply(change: TreeChange): Promise<void> {
    requirePath(change.path)
    if (change.op === 'delete') {
      const { item } = await this.#require(change.path, change.sha)
      if (item.mode === FOLDER) throw refusal('path-not-file', change.path)
      return this.#remove(change.path)
    }
    if (change.op === 'rename') return this.#rename(change)
    if (change.op === 'set') return this.#set(change)
    const existing = await this.#find(change.path)
    if (change.op === 'create' && existing) throw refusal('path-exists', change.path)
    if (change.op === 'update') await this.#require(change.path, change.sha)
    if (existing) requireFile(existing, change.path)
    await this.#put(change.path, modeOf(change, existing), this.#write(change.path, change.content))
  }

  async #rename(change: TreeChange & { op: 'rename' }): Promise<void> {
    requirePath(change.fromPath)
    const { item } = await this.#require(change.fromPath, change.sha)
    if (item.mode === FOLDER) throw refusal('path-not-file', change.fromPath)
    if (change.content !== undefined) requireFile(item, change.fromPath)
    if (change.fromPath !== change.path) {
      await this.#remove(change.fromPath)
      if (await this.#find(change.path)) throw refusal('path-exists', change.path)
    }
    const sha = change.content === undefined ? item.sha : this.#write(change.path, change.content)
    this.blobs.set(change.path, sha)
    await this.#put(change.path, item.mode, sha)
  }

  async #set({ path, mode, content, old }: SetEntry): Promise<void> {
    if (old !== null) await this.#require(path, old)
    else if (await this.#find(path)) throw refusal('path-exists', path)
    await this.#put(path, mode, 'sha' in content ? content.sha : this.#write(path, content))
  }

  #write(path: string, content: Uint8Array | string): string {
    const sha = this.#pack.add('blob', typeof content === 'string' ? Buffer.from(content) : content)
    this.blobs.set(path, sha)
    return sha
  }

  /** The id of the whole tree; what changed is in the pack. */
  write(): string {
    return this.#writeFolder(this.#root)
  }

  #writeFolder(folder: Folder): string {
    for (const [rawName, child] of folder.children) {
      if (child.isChanged) folder.items.set(rawName, { mode: FOLDER, rawName, sha: this.#writeFolder(child) })
    }
    return this.#pack.add('tree', encodeTree(folder.items.values()))
  }

  async #require(path: string, sha: string | undefined): Promise<{ item: TreeItem }> {
    const item = await this.#find(path)
    if (!item) throw refusal('path', path)
    if (sha !== undefined && item.sha !== sha) throw refusal('blob-moved', path)
    return { item }
  }

  async #find(path: string): Promise<TreeItem | undefined> {
    const names = rawNames(path)
    const last = names.pop() ?? ''
    let folder = this.#root
    for (const name of names) {
      const item = folder.items.get(name)
      if (!item && !folder.children.has(name)) return undefined
      if (item && item.mode !== FOLDER) throw refusal('path-parent-not-folder', path)
      folder = await this.#child(folder, name)
    }
    return folder.items.get(last)
  }

  async #put(path: string, mode: string, sha: string): Promise<void> {
    const names = rawNames(path)
    const last = names.pop() ?? ''
    let folder = this.#root
    folder.isChanged = true
    for (const name of names) {
      folder = await this.#child(folder, name)
      folder.isChanged = true
    }
    folder.items.set(last, { mode, rawName: last, sha })
  }

  /** A folder that becomes empty goes with its last file: git has no empty folders. */
  async #remove(path: string): Promise<void> {
    const names = rawNames(path)
    const folders = [this.#root]
    for (const name of names.slice(0, -1)) folders.push(await this.#child(folders.at(-1) ?? this.#root, name))
    for (let depth = names.length - 1; depth >= 0; depth--) {
      const folder = folders[depth]
      const name = names[depth] ?? ''
      if (!folder) return
      if (depth === names.length - 1 || folders[depth + 1]?.items.size === 0) {
        folder.items.delete(name)
        folder.children.delete(name)
      }
      folder.isChanged = true
    }
    this.blobs.delete(path)
  }

  async #child(folder: Folder, name: string): Promise<Folder> {
    const known = folder.children.get(name)
    if (known) return known
    const item = folder.items.get(name)
    const child = item ? await this.#loadFolder(item.sha) : { items: new Map(), children: new Map(), isChanged: true }
    folder.children.set(name, child)
    if (!item) folder.items.set(name, { mode: FOLDER, rawName: name, sha: '' })
    return child
  }

  async #loadFolder(sha: string): Promise<Folder> {
    const items = await this.#load(sha)
    return { items: new Map(items.map((item) => [item.rawName, item])), children: new Map(), isChanged: false }
  }
}

function modeOf(change: TreeChange, existing: TreeItem | undefined): string {
  const isExecutable = 'isExecutable' in change ? change.isExecutable : undefined
  if (isExecutable === undefined) return existing?.mode ?? '100644'
  return isExecutable ? '100755' : '100644'
}

const rawNames = (path: string) => Buffer.from(path).toString('latin1').split('/')

function requirePath(path: string): void {
  const problem = pathProblem(path)
  if (problem) throw new GitError('invalid', 'path-syntax', `the path is refused: ${problem}`, { subject: path })
}

/** Content is never written through a link, and never in place of a submodule. */
function requireFile(item: TreeItem, path: string): void {
  const kind = kindOf(item.mode)
  if (kind !== 'file' && kind !== 'executable') throw refusal('path-not-file', path)
}

const REFUSALS = {
  path: ['not-found', 'no such file'],
  'path-exists': ['conflict', 'the path exists already'],
  'path-not-file': ['invalid', 'the path is not a file'],
  'path-parent-not-folder': ['invalid', 'a part of the path is not a folder'],
  'blob-moved': ['conflict', 'the file is not the one that was expected'],
} as const

function refusal(code: GitErrorCode & keyof typeof REFUSALS, subject: string): GitError {
  const [kind, message] = REFUSALS[code]
  return new GitError(kind, code, message, { subject })
}
