/** The values of the Git interface. Ids of objects are lower-case hexadecimal: 40 digits in sha1, 64 in sha256. */

export type ObjectFormat = 'sha1' | 'sha256'
export type ObjectType = 'commit' | 'tree' | 'blob' | 'tag'

/** Given with every call: an abort ends the child process, a deadline does the same and throws `timeout`. */
export interface Call {
  signal?: AbortSignal
  timeoutMs?: number
  /** Who moves refs, for the hooks of the repository. */
  pusher?: Pusher
  /** For whom the work is done. Left out for the service's own work. */
  client?: Client
}

/** One client may hold a part of all places for Git processes only. */
export interface Client {
  /** The account, or the address of a visitor. */
  key: string
  /** Some places are reserved for those who are signed in. */
  isSignedIn: boolean
}

export interface Pusher {
  id: number
  name: string
  /** What the repository is called now. */
  repository: { owner: string; name: string }
}

/** The hooks of a push, in their order. */
export const hookNames = ['pre-receive', 'update', 'post-receive'] as const
export type HookName = (typeof hookNames)[number]

export interface GitHook {
  name: HookName
  /** The program as a text; undefined when there is none. */
  content?: string | undefined
}

export interface Signature {
  name: string
  email: string
  date: Date
  /** Minutes east of UTC as git has stored them; 0 when left out. */
  offsetMinutes?: number
}

export interface ObjectName {
  sha: string
  type: ObjectType
  /** Bytes. */
  size: number
}

export interface Commit {
  sha: string
  tree: string
  parents: string[]
  author: Signature
  committer: Signature
  message: string
  /** When the commit carries one. */
  signature?: ObjectSignature
}

/** An armored signature and what it was made over. */
export interface ObjectSignature {
  text: string
  payload: string
  /** The payload with each byte as one character, where it is no UTF-8 and `payload` has marks for what is broken. */
  rawPayload?: string
  /** Programs could read the object in different ways, so its signature vouches for nothing. */
  isAmbiguous?: boolean
}

/** Gives the armored signature over the content of an object. */
export type Sign = (content: Uint8Array) => string

export interface Tag {
  sha: string
  name: string
  target: { sha: string; type: ObjectType }
  tagger?: Signature
  message: string
  signature?: ObjectSignature
}

export interface Ref {
  /** Full name, `refs/heads/main`. */
  name: string
  /** What the ref holds; for an annotated tag the tag object. */
  sha: string
  type: ObjectType
  /** The object behind an annotated tag. */
  peeled?: { sha: string; type: ObjectType }
}

export interface RefChange {
  ref: string
  /** The value the ref must have: null = it must not exist, undefined = not checked. */
  old?: string | null
  /** null deletes the ref. */
  new: string | null
}

export type EntryKind = 'file' | 'executable' | 'symlink' | 'folder' | 'submodule'

export interface TreeEntry {
  /** Path from the root of the repository. */
  path: string
  name: string
  kind: EntryKind
  /** The six octal digits, `100644`. */
  mode: string
  sha: string
  /** Bytes of a blob; left out for folders and submodules, and where sizes were not asked for. */
  size?: number
}

export interface Tree {
  sha: string
  entries: TreeEntry[]
  /** Entries beyond the limit were left out. */
  isTruncated: boolean
}

export interface FileChange {
  path: string
  /** Only of renamed and copied files. */
  previousPath?: string
  status: 'added' | 'deleted' | 'modified' | 'renamed' | 'copied' | 'type-changed'
  additions: number
  deletions: number
  isBinary: boolean
  /** Blob before and after; undefined where there is none. */
  oldSha?: string
  newSha?: string
  /** Six octal digits; undefined where there is none. */
  oldMode?: string
  newMode?: string
}

export interface Changes {
  additions: number
  deletions: number
  files: FileChange[]
  /** Files beyond the limit were counted in neither sum. */
  isTruncated: boolean
}

export interface LoggedCommit extends Commit {
  /** Against the first parent (or the empty tree); only when asked for. */
  changes?: Changes
}

export interface LogQuery {
  revision: string
  /** Commits reachable from these are left out. */
  not?: string[]
  /** The same of a revision of another repository, such as the one that this was forked from. */
  notIn?: { repositoryId: number; revision: string }
  path?: string
  since?: Date
  until?: Date
  firstParent?: boolean
  skip?: number
  limit: number
  /** Adds `changes` to every commit. */
  withChanges?: boolean
}

export interface NewFile {
  path: string
  content: Uint8Array | string
  isExecutable?: boolean
}

export interface InitialCommit {
  files: NewFile[]
  author: Signature
  committer: Signature
  message: string
  /** Left out: the commit is not signed. */
  sign?: Sign
}

export type TreeChange =
  /** `create` refuses an existing path, `update` a missing one, `put` takes both. */
  | { op: 'create' | 'put'; path: string; content: Uint8Array | string; isExecutable?: boolean }
  | { op: 'update'; path: string; content: Uint8Array | string; sha?: string }
  | { op: 'delete'; path: string; sha?: string }
  /** Without `content` the file moves as it is. */
  | { op: 'rename'; fromPath: string; path: string; content?: Uint8Array | string; sha?: string }
  | SetEntry

/** What a patch makes of a path: a file, a link, or with an id in place of the content a submodule. */
export interface SetEntry {
  op: 'set'
  path: string
  /** Six octal digits. */
  mode: string
  content: Uint8Array | { sha: string }
  /** What must lie there; null = nothing. */
  old: string | null
}

/** One commit with the files of a commit of another repository. */
export interface CopiedTree {
  sourceId: number
  /** A revision of the source. */
  commit: string
  defaultBranch: string
  changes: TreeChange[]
  author: Signature
  committer: Signature
  message: string
  /** Left out: the commit is not signed. */
  sign?: Sign
}

export interface MergeCommit {
  /** Revisions of one repository. The first is the first parent. */
  ours: string
  theirs: string
  author: Signature
  committer: Signature
  message: string
  /** Left out: the commit is not signed. */
  sign?: Sign
}

export interface FilesCommit {
  /** Short name of the branch that is built upon; in an empty repository the branch that is made. */
  branch: string
  /** Short name of a branch to make instead of moving `branch`; refused as `branch-exists` when it is there. */
  newBranch?: string
  /** `newBranch` may exist; then it moves, whatever it held. */
  replacesNewBranch?: boolean
  /** The commit that `branch` must be at, else `head-moved`. */
  expectedHead?: string
  changes: TreeChange[]
  author: Signature
  committer: Signature
  message: string
  /** Left out: the commit is not signed. */
  sign?: Sign
  /** Appends a `Signed-off-by` trailer of the committer. */
  signoff?: boolean
  /** Commits even if the tree stays the same; else `nothing-changed`. */
  allowEmpty?: boolean
}

export interface FilesCommitted {
  commit: Commit
  /** Full name of the ref that moved. */
  ref: string
  /** The parent; undefined for the first commit. */
  parent?: string
  /** The blob of each written path; deleted paths are absent. */
  blobs: Map<string, string>
}

export interface Blob {
  sha: string
  size: number
  bytes: Uint8Array
}

export interface OpenBlob {
  sha: string
  size: number
  /** May be called several times. `signal`: of a reader who may leave before reading. */
  read(range?: ByteRange, signal?: AbortSignal): Promise<ReadableStream<Uint8Array>>
}

/** An archive: cached, or still being made. */
export interface Archive {
  /** Undefined while it is being made. */
  size: number | undefined
  /** As of a blob. Waits for the first bytes, and throws the error that kept git from making them. */
  read(range?: ByteRange, signal?: AbortSignal): Promise<ReadableStream<Uint8Array>>
}

export interface ArchiveQuery {
  revision: string
  format: ArchiveFormat
  /** The folder that everything lies in. */
  prefix?: string
  /** Only these files and folders; all when empty. */
  paths?: readonly string[]
}

export interface DiffQuery {
  /** Left out: the first parent of `head`, or nothing if it has none. */
  base?: string
  head: string
  /** Compare from the merge base of the two, as a pull request does. */
  fromMergeBase?: boolean
  /** `patch` is one mail per commit, `diff` the plain difference. */
  format?: 'diff' | 'patch'
  /** Carries binary files whole in a `diff`; a `patch` always does. */
  withBinary?: boolean
  path?: string
}

export type ArchiveFormat = 'zip' | 'tar.gz'
export type GitService = 'upload-pack' | 'receive-pack'

export interface ServeRequest extends Call {
  /** The body as the client sent it, already unzipped. */
  body: ReadableStream<Uint8Array>
  /** `Git-Protocol` of the client; anything that is not `[a-z0-9=:]{1,64}` is ignored. */
  protocol?: string
  /** Bytes a push may send; the limit of the engine when left out. */
  maxInputBytes?: number
  /**
   * Called when all objects of a push are there and no ref has moved: why the push is refused, in one line, or undefined. Never rejects.
   * Left out, git alone decides.
   */
  judge?: (look: Look) => Promise<string | undefined>
}

/** What rules for branches ask of commits, also of those that a push has brought and that are in no repository yet. By full ids. */
export interface Look {
  isAncestor(ancestor: string, descendant: string): Promise<boolean>
  /** The best common ancestor; undefined for unrelated histories. */
  mergeBase(one: string, other: string): Promise<string | undefined>
  /** Paths that differ; without `base` all of them. Throws `too-large` `limit`. */
  changedPaths(base: string | undefined, head: string): Promise<string[]>
  /** Commits reachable from `head` and not from `not`; without `not`, from no branch and no tag. Throws `too-large` `limit`. */
  newCommits(head: string, not: string | undefined): Promise<Commit[]>
}

export interface Served {
  /** The answer of git. Cancelling it ends the child. */
  stream: ReadableStream<Uint8Array>
  /** The same in memory, where the answer is short: to be sent instead. */
  bytes?: Uint8Array<ArrayBuffer>
  /** When the child is gone: its exit code and the last of what it printed. Never rejects. */
  done: Promise<{ exitCode: number; stderr: string }>
}

/** A part of a file: from `start` to before `end`. */
export interface ByteRange {
  start: number
  end: number
}

export interface UnadoptedFolder {
  owner: string
  name: string
}

export interface RepositorySize {
  bytes: number
  looseObjects: number
  packs: number
}

export interface Integrity {
  isSound: boolean
  problems: string[]
}

export interface AttributeQuery {
  /** The `.gitattributes` files that count, by their place in the tree. */
  sources: readonly { path: string; sha: string }[]
  names: readonly string[]
  paths: readonly string[]
}

/** A repository on another server, as it may be talked to. */
export interface Remote {
  /** http, https or git (which takes no credentials), without user and password. */
  url: string
  /** What the name of its host resolved to. Nothing else is connected to. */
  addresses: readonly string[]
  credentials?: RemoteCredentials | undefined
}

/** Without line breaks: they go to git in lines. */
export interface RemoteCredentials {
  username: string
  password: string
}

export interface ListedRemote {
  /** The branch that HEAD names, where the server says so. */
  head: string | undefined
  /** Branches and tags, by full names. */
  refs: readonly { name: string; sha: string }[]
}
